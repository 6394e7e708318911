package feed

import "slices"

// Adapters returns all adapters by name.
func Adapters() []Adapter {
	return []Adapter{
		caisoAdapter,
		comedAdapter,
		csvAdapter,
		ercotAdapter,
		gridxAdapter,
		isoneAdapter,
		jsonAdapter,
		midasAdapter,
		misoAdapter,
		nyisoAdapter,
		openadrAdapter,
		openeiAdapter,
		pjmAdapter,
		sppAdapter,
	}
}

// Names returns the names of all adapters.
func Names() (names []string) {
	for _, a := range Adapters() {
		names = append(names, a.Name)
	}
	return names
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
