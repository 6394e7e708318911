// Package console is the web console. It shows triggers and their progress, the delivery
// log, endpoints, and a chart of a home's price signal.
//
// The console is a folder of hand-written ES modules and one style sheet. The program
// embeds the files and serves them unchanged. The page uses only the operations of the
// API. It authenticates with a key that the user types in. The key stays in the browser's
// tab. On the operator's listener, the page asks for the operator's key and an
// organization. On the partners' listener, it shows the operations that the partner's key
// may use.
//
// The caller of WithConsole passes in the enumerations, such as the outcomes. The console
// serves them as a module.
//
// console may import nothing but the standard library.
package console
