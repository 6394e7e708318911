package schema

import "encoding/json"

// SetDefaults sets the defaults of an object's optional fields in a request. The defaults
// are the fields of value, which may be nil.
func (s *Schema) SetDefaults(value any) {
	var defaults map[string]any
	if text, err := json.Marshal(value); err != nil || json.Unmarshal(text, &defaults) != nil {
		return
	}
	for _, p := range s.target.Properties {
		v := defaults[p.Name]
		if adds := v != nil && v != "" && v != 0.0; adds && p.Value.target == nil {
			p.Value.Default = v
		}
	}
}

// SetConst restricts a field of an object to one value.
func (s *Schema) SetConst(field, value string) {
	for i, p := range s.target.Properties {
		if p.Name == field {
			s.target.Properties[i].Value = &Schema{Const: value, Description: p.Value.Description, kind: "string"}
		}
	}
}

// SetDescription describes a field of an object.
func (s *Schema) SetDescription(field, text string) { s.target.property(field).Description = text }
