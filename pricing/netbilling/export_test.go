package netbilling

// Utility returns the paying utility's name and EIA number.
func (v *Values) Utility() (name string, eiaID int) { return v.table.Utility, v.table.EIAID }
