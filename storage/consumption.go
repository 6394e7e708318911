package storage

// StoredBytes estimates the size of an organization's live records in the log of record,
// in bytes. It measures the first records of each kind and multiplies by their number.
func StoredBytes(v View, org string) (bytes int64, err error) {
	const maxSample = 1000
	for _, kind := range Kinds() {
		count := int64(v.Count(kind, org))
		if count == 0 {
			continue
		}
		var size, n int64
		for r, err := range Live(v, kind, org, "") {
			if err != nil {
				return 0, err
			}
			if size, n = size+int64(len(r.Ref.String())+len(r.Value)), n+1; n == maxSample {
				break
			}
		}
		if n > 0 {
			bytes += size * max(n, count) / n
		}
	}
	return bytes, nil
}
