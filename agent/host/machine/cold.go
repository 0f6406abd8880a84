package machine

import "bytes"

// coldFrom is the first column of memory.idle_page_stats that counts as cold: pages that were not touched for at least five scans.
const coldFrom = 2

// coldFilePages sums up the file pages that were not touched for long, in bytes, of a file as kidled writes it: lines such as
// "cfei 12 34 ...", whose letters say clean or dirty, file or swap, evictable or not, and active or inactive, and then columns
// by age, the youngest first.
func coldFilePages(content []byte) int64 {
	var sum int64
	for line := range bytes.Lines(content) {
		line = bytes.TrimLeft(line, " \t")
		if len(line) < 5 || line[0] != 'c' && line[0] != 'd' || line[1] != 'f' || line[4] != ' ' && line[4] != '\t' {
			continue
		}
		rest := line[4:]
		for column := 0; ; column++ {
			value, after, err := leadingNumber(rest)
			if err != nil {
				break
			}
			rest = after
			if column >= coldFrom && sum < 1<<61 {
				sum += min(value, 1<<61)
			}
		}
	}
	return sum
}
