package suggest

// Nearest returns the known name that takes the fewest edits from name, if these are at most a third of its length, and at
// least one edit is always forgiven; the first of equally near ones, and empty when none is near. The name itself is not
// considered.
func Nearest(name string, known []string) string {
	best, fewest := "", max(len(name)/3, 1)+1
	for _, candidate := range known {
		if candidate == name {
			continue
		}
		if edits := distance(name, candidate); edits < fewest {
			best, fewest = candidate, edits
		}
	}
	return best
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
