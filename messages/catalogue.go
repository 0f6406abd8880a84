package messages

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed zh/*.po
var files embed.FS

// catalogue is all entries: those that are whole texts, and formats by the first word of what they make.
type catalogue struct {
	exact   map[string]string
	formats map[string][]*format
}

// chinese is read when a text is first translated, and not where all texts stay English. The tests read it too, so it has no errors.
var chinese = sync.OnceValue(func() *catalogue {
	c, err := read(files)
	if err != nil {
		return &catalogue{}
	}
	return c
})

// read makes a catalogue of the files of one language.
func read(from fs.FS) (*catalogue, error) {
	names, err := fs.Glob(from, "*/*.po")
	if err != nil {
		return nil, err
	}
	c := &catalogue{exact: map[string]string{}, formats: map[string][]*format{}}
	for _, name := range names {
		content, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		entries, err := parse(string(content))
		if err != nil {
			return nil, fmt.Errorf("read messages of %s: %w", name, err)
		}
		for _, e := range entries {
			if err := c.add(e); err != nil {
				return nil, fmt.Errorf("read messages of %s: line %d: %w", name, e.line, err)
			}
		}
	}
	for _, formats := range c.formats {
		slices.SortStableFunc(formats, func(a, b *format) int { return cmp.Compare(b.certain, a.certain) })
	}
	return c, nil
}

func (c *catalogue) add(e entry) error {
	if _, twice := c.exact[e.english]; twice {
		return fmt.Errorf("%q has two entries", e.english)
	}
	f, err := newFormat(e.english, e.chinese)
	if err != nil {
		return err
	}
	// The whole text is kept for formats too: it finds a second entry, and translates what shows a format itself.
	c.exact[e.english] = e.chinese
	if len(f.verbs) > 0 {
		word := firstWord(f.literals[0])
		c.formats[word] = append(c.formats[word], f)
	}
	return nil
}

// firstWord is what comes before the first space; empty without one, as then the word may go on.
func firstWord(text string) string {
	word, _, whole := strings.Cut(text, " ")
	if !whole {
		return ""
	}
	return word
}
