package messages

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// entry of a file.
type entry struct {
	english, chinese string
	line             int
}

// parse reads the part of gettext's PO files that translations use: msgid, msgstr, lines that continue them, and comments.
func parse(content string) ([]entry, error) {
	var entries []entry
	var continued *string
	number := 0
	for line := range strings.Lines(content) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continued = nil
			continue
		}
		keyword, quoted, _ := strings.Cut(line, " ")
		switch {
		case keyword == "msgid":
			entries = append(entries, entry{line: number})
			continued = &entries[len(entries)-1].english
		case len(entries) == 0:
			return nil, fmt.Errorf("line %d: an entry begins with msgid", number)
		case keyword == "msgstr":
			continued = &entries[len(entries)-1].chinese
		case line[0] == '"' && continued != nil:
			quoted = line
		default:
			return nil, fmt.Errorf("line %d: neither msgid, msgstr, a quoted text nor a comment", number)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		*continued += text
	}
	for _, e := range entries {
		if e.english == "" || e.chinese == "" {
			return nil, fmt.Errorf("line %d: %w", e.line, errors.New("an entry has a text and its translation"))
		}
	}
	return entries, nil
}
