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
		if v, ok := defaults[p.Name]; ok && !isEmptyDefault(v) && p.Value.target == nil {
			p.Value.Default = v
		}
	}
}

// isEmptyDefault reports whether a default adds nothing to the type.
func isEmptyDefault(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case float64:
		return v == 0
	}
	return false
}

// SetConst restricts a field of an object to one value.
func (s *Schema) SetConst(field, value string) {
	for i, p := range s.target.Properties {
		if p.Name == field {
			s.target.Properties[i].Value = &Schema{Const: value, Description: p.Value.Description, kind: "string"}
		}
	}
}
