package pricing

import "github.com/gridhook/gridhook/pricing/netbilling"

// WithExportValues returns a copy of the tariff with other net billing values in all its
// versions. The values belong to the home's own vintage.
func (t *Tariff) WithExportValues(values *netbilling.Values) *Tariff {
	return t.withExportValues(func(*netbilling.Values) *netbilling.Values { return values })
}

// Paying returns a copy of the tariff that pays one component of its export values.
func (t *Tariff) Paying(component netbilling.Component) *Tariff {
	return t.withExportValues(func(v *netbilling.Values) *netbilling.Values { return v.Only(component) })
}

func (t *Tariff) withExportValues(change func(*netbilling.Values) *netbilling.Values) *Tariff {
	other := &Tariff{versions: make([]*version, len(t.versions))}
	for i, v := range t.versions {
		changed := *v
		changed.ExportValues = change(v.ExportValues)
		changed.prepare()
		other.versions[i] = &changed
	}
	return other
}
