package feed

import (
	"fmt"
	"slices"
	"strings"
)

// Adapters returns all adapters by name.
func Adapters() []Adapter {
	all := []Adapter{
		caisoAdapter(),
		comedAdapter(),
		csvAdapter(),
		ercotAdapter(),
		gridxAdapter(),
		isoneAdapter(),
		jsonAdapter(),
		midasAdapter(),
		misoAdapter(),
		nyisoAdapter(),
		openadrAdapter(),
		openeiAdapter(),
		pjmAdapter(),
		sppAdapter(),
	}
	for i, a := range all {
		all[i].Requests = func(q *Query) ([]Request, error) {
			if err := a.check(q.Parameters); err != nil {
				return nil, err
			}
			return a.Requests(q)
		}
	}
	return all
}

// ByName returns the adapter of a name.
func ByName(name string) (Adapter, bool) {
	all := Adapters()
	i := slices.IndexFunc(all, func(a Adapter) bool { return a.Name == name })
	if i < 0 {
		return Adapter{}, false
	}
	return all[i], true
}

// check returns an error about the first parameter without a valid value.
func (a *Adapter) check(values map[string]string) error {
	for _, p := range a.Parameters {
		switch value := values[p.Name]; {
		case value == "" && p.Required:
			return fmt.Errorf("%s: is required: %s", p.Name, p.Doc)
		case value != "" && p.Values != nil && !slices.Contains(p.Values, value):
			return fmt.Errorf("%s: %q is not %s", p.Name, value, strings.Join(p.Values, " or "))
		}
	}
	return nil
}
