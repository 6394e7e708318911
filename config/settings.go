package config

import (
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Setting describes one setting: a field of Config and its tags.
type Setting struct {
	// Name is the flag and the key in the file.
	Name string
	// Default is the default value, in the form that an operator would write.
	Default string
	Help    string
	// Roles lists the roles that take the setting.
	Roles []Role
	// Required lists the roles that need a value.
	Required []Role

	index []int // of the field
	tag   reflect.StructTag
}

// TakenBy reports whether processes of the role take the setting.
func (s *Setting) TakenBy(r Role) bool { return slices.Contains(s.Roles, r) }

// Kind returns the type of the setting's value in one word.
func (s *Setting) Kind() string {
	return cmp.Or(kinds[reflect.TypeFor[Config]().FieldByIndex(s.index).Type], "text")
}

// field returns a pointer to the setting's field in c.
func (s *Setting) field(c *Config) any {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index).Addr().Interface()
}

// shown returns a value in a form that is safe to print.
func (s *Setting) shown(text string) string {
	switch secret := s.tag.Get("secret"); {
	case secret == "" || text == "":
		return text
	case secret == "password":
		return withoutPassword(text)
	}
	return masked
}

func (s *Setting) secret() bool { return s.tag.Get("secret") != "" }

// Settings returns all settings, in the order of the reference. Do not change them.
var Settings = sync.OnceValue(func() []Setting {
	return group{prefix: "", roles: Roles()}.settings(reflect.TypeFor[Config](), nil)
})

// group holds what the settings of a struct share: prefix, roles and tags.
type group struct {
	prefix string
	roles  []Role
	tag    reflect.StructTag
}

// settings returns the settings of a struct and of its nested structs.
func (g group) settings(of reflect.Type, at []int) (all []Setting) {
	for _, f := range reflect.VisibleFields(of) {
		if len(f.Index) > 1 {
			continue // a field of an embedded struct, which is a group of its own
		}
		index, roles := append(slices.Clone(at), f.Index...), g.roles
		if named := f.Tag.Get("roles"); named != "" {
			roles = rolesOf(named)
		}
		name, isSetting := f.Tag.Lookup("setting")
		name = strings.Trim(g.prefix+"-"+name, "-")
		switch {
		case f.Type.Kind() == reflect.Struct && !reflect.PointerTo(f.Type).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
			all = append(all, group{name, roles, f.Tag}.settings(f.Type, index)...)
		case isSetting:
			all = append(all, Setting{
				Name: name, Default: f.Tag.Get("default"), Help: g.help(f.Tag.Get("help")),
				Roles: roles, Required: rolesOf(f.Tag.Get("required")), index: index, tag: f.Tag,
			})
		}
	}
	return all
}

// help expands the group's placeholders in a help text.
func (g group) help(text string) string {
	return strings.NewReplacer("{prefix}", g.prefix, "{whose}", g.tag.Get("whose"), "{without}", g.tag.Get("without")).Replace(text)
}

func rolesOf(names string) (roles []Role) {
	for name := range strings.SplitSeq(names, ",") {
		if name != "" {
			roles = append(roles, Role(name))
		}
	}
	return roles
}
