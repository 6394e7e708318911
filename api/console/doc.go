// Package console is the web page for people: triggers and their progress, the
// delivery log, endpoints, and a home's price signal drawn.
//
// It is a folder of hand-written ES modules and one style sheet that are embedded
// and served as they are. The page works with the operations of the API alone,
// with the key that its user types in, which stays in the browser's tab. On the
// operator's listener it asks with the operator's key for an organization to act
// for; on the partners' it shows what the partner's key may do.
//
// console may import nothing but the standard library.
package console
