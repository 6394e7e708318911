package feed

import "slices"

// Adapters returns all adapters by name.
func Adapters() []Adapter {
	return []Adapter{
		csvAdapter(),
		jsonAdapter(),
	}
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
