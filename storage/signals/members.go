package signals

import "bytes"

// members hands the name and the value of each member of a JSON object to use, as
// they are written, strings without their quotes. It knows objects as the store
// writes them: without white space, escapes, or values within values. Of anything
// else it reports false, and encoding/json must be asked.
func members(object []byte, use func(name, value []byte)) bool {
	if len(object) < 2 || object[0] != '{' || object[len(object)-1] != '}' || bytes.IndexByte(object, '\\') >= 0 {
		return false
	}
	rest := object[1 : len(object)-1]
	for len(rest) > 0 {
		name, after, ok := quoted(rest)
		if !ok || len(after) < 2 || after[0] != ':' {
			return false
		}
		value, after, ok := simple(after[1:])
		if !ok {
			return false
		}
		use(name, value)
		if len(after) > 0 && (after[0] != ',' || len(after) == 1) {
			return false
		}
		rest = after[min(1, len(after)):]
	}
	return true
}

// quoted reads a string in quotes.
func quoted(text []byte) (value, rest []byte, ok bool) {
	if text[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexByte(text[1:], '"')
	if end < 0 {
		return nil, nil, false
	}
	return text[1 : 1+end], text[2+end:], true
}

// simple reads a string, a number, true, false or null.
func simple(text []byte) (value, rest []byte, ok bool) {
	switch text[0] {
	case '"':
		return quoted(text)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 't', 'f', 'n':
	default:
		return nil, nil, false
	}
	end := bytes.IndexByte(text, ',')
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:], end > 0
}

// reuse is a text as a string: last, where it is the same, which costs nothing.
func reuse(last string, text []byte) string {
	if string(text) == last {
		return last
	}
	return string(text)
}
