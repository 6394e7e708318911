package api

import "maps"

// RequestExamples returns an example of each operation's body, by the operation's name.
func RequestExamples() map[string]string { return maps.Clone(examples) }
