package pricing

import "github.com/gridhook/gridhook/pricing/netbilling"

// WithExportValues is the tariff with other values for exported energy under net
// billing, in all its versions: those of the home's own vintage.
func (t *Tariff) WithExportValues(values *netbilling.Values) *Tariff {
	other := &Tariff{versions: make([]*version, len(t.versions))}
	for i, v := range t.versions {
		changed := *v
		changed.values = values
		changed.prepare()
		other.versions[i] = &changed
	}
	return other
}
