package config

import "strings"

// nearest suggests the setting that a misspelt key may have meant.
func nearest(key string, known []Setting) string {
	plain := strings.ToLower(strings.ReplaceAll(key, "_", "-"))
	best, least := "", 3
	for _, s := range known {
		if d := distance(plain, s.Name); d < least {
			best, least = s.Name, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// distance is how many characters must be added, dropped or replaced to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
