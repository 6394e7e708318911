package pricing

import "github.com/gridhook/gridhook/pricing/netbilling"

// WithExportValues returns a copy of the tariff with other net billing values in all its
// versions. The values belong to the home's own vintage.
func (t *Tariff) WithExportValues(values *netbilling.Values) *Tariff {
	other := &Tariff{versions: make([]*version, len(t.versions))}
	for i, v := range t.versions {
		changed := *v
		changed.ExportValues = values
		changed.prepare()
		other.versions[i] = &changed
	}
	return other
}
