package openapi

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Object is a JSON object that keeps the order of its members.
type Object []Member

// Member is a name and its value.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(m.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Get is the value of a member, nil when there is none.
func (o Object) Get(name string) any {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// With is the object with a member set; a nil value changes nothing.
func (o Object) With(name string, value any) Object {
	if value == nil || value == "" {
		return o
	}
	o = slices.Clone(o)
	for i := range o {
		if o[i].Name == name {
			o[i].Value = value
			return o
		}
	}
	return append(o, Member{name, value})
}

// JSON is the object as indented JSON.
func (o Object) JSON() ([]byte, error) {
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	b.WriteByte('\n')
	return b.Bytes(), err
}

// YAML is the object as YAML, in the same order.
func (o Object) YAML() ([]byte, error) {
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return nil, err
	}
	var root yaml.Node // JSON on one line is YAML
	if err := yaml.Unmarshal(line.Bytes(), &root); err != nil {
		return nil, err
	}
	plain(&root)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err = e.Encode(&root)
	return b.Bytes(), err
}

// plain takes the style of JSON away.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		plain(child)
	}
}
