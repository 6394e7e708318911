package config

import "strings"

// nearest returns a hint with the setting that a misspelled key may mean, "" if no name is
// similar.
func nearest(key string) string {
	var names []string
	for _, s := range Settings() {
		names = append(names, s.Name)
	}
	if best := Nearest(strings.ToLower(strings.ReplaceAll(key, "_", "-")), names); best != "" {
		return ": did you mean " + best + "?"
	}
	return ""
}

// Nearest returns the known word closest to a misspelled word, at most two edits away. It
// returns "" if no word is that close.
func Nearest(word string, known []string) (best string) {
	least := 3
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance returns the Levenshtein distance of a and b: the number of characters to add,
// drop or replace to turn a into b.
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
