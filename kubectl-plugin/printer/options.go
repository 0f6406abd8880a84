package printer

import (
	"time"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/messages"
)

// Options of every printer. The zero value prints plain Unicode text of any width.
type Options struct {
	// Width of the terminal in columns; 0 when the output is no terminal, and then nothing is left out or cut.
	Width int
	// Wide adds what does not fit 80 columns.
	Wide bool
	// NoHeaders leaves out column headers.
	NoHeaders bool
	// WithNamespace puts the namespace first.
	WithNamespace bool
	// LabelColumns adds a column for each of these labels, and ShowLabels one with all of them.
	LabelColumns []string
	ShowLabels   bool
	// Parts bounds what is listed under a term or a group; 0 lists nothing.
	Parts int
	// Style of the text.
	Style Style
	// Language of the reader; English when empty.
	Language messages.Language
	// Program is the name the program was called by, for the commands in hints; empty for koordctl.
	Program string
	// Now is the moment that ages are counted to.
	Now time.Time
}

// Say is a text in the language of the reader, safe for a terminal.
func (o Options) Say(english string) string { return o.Style.Clean(o.Language.Text(english)) }

func (o Options) say(english string) string { return o.Say(english) }

// sayEntry is a text in the language of the reader, which may be that of an entry of the catalogue of findings.
func (o Options) sayEntry(english string, entry finding.Text) string {
	if english == entry.English {
		return o.Style.Clean(entryText(entry, o.Language))
	}
	return o.say(english)
}

// label stands before a text that it names.
func (o Options) label(english string) string { return o.say(english) + ": " }
