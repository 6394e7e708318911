package pricing

import "github.com/gridhook/gridhook/pricing/netbilling"

// WithExportValues returns a copy of the tariff with other net billing values in all its
// versions. The values belong to the home's own vintage.
func (t *Tariff) WithExportValues(values *netbilling.Values) *Tariff {
	return t.changed(func(v *version) { v.ExportValues, v.ownValues = values, true })
}

// WithUtilityValues returns a copy of the tariff for a home under net billing. Its versions
// without a price for exports have the newest values of a utility, if it publishes any.
func (t *Tariff) WithUtilityValues(eiaID int) *Tariff {
	return t.changed(func(v *version) {
		if v.ExportValues == nil && !v.pays {
			v.ExportValues = netbilling.Newest(eiaID)
		}
	})
}

// Paying returns a copy of the tariff that pays one component of its export values.
func (t *Tariff) Paying(component netbilling.Component) *Tariff {
	return t.changed(func(v *version) { v.ExportValues = v.ExportValues.Only(component) })
}

func (t *Tariff) changed(change func(*version)) *Tariff {
	other := &Tariff{versions: make([]*version, len(t.versions))}
	for i, v := range t.versions {
		changed := *v
		change(&changed)
		changed.prepare()
		other.versions[i] = &changed
	}
	return other
}
