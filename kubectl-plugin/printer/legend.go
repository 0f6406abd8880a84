package printer

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/messages"
)

// codeInText finds codes, also inside of escape sequences.
var codeInText = regexp.MustCompile(`KOORD\d{4}`)

// Legend explains the codes that a text names, each once and in their order: what they mean and what to do. It prints nothing in English,
// the language of the texts, which say it themselves.
func Legend(w io.Writer, printed string, o Options) error {
	if o.Language != messages.Chinese {
		return nil
	}
	var b strings.Builder
	var explained []string
	for _, code := range codeInText.FindAllString(printed, -1) {
		entry, known := finding.Lookup(finding.Code(code))
		if !known || slices.Contains(explained, code) {
			continue
		}
		explained = append(explained, code)
		wrapped(&b, o, 2, o.Style.Paint(Strong, code)+" "+entryText(entry.Summary, o.Language))
		wrapped(&b, o, 4, o.Style.Paint(Dim, codeLabels[o.Language][2]+": ")+Called(o.Program, entryText(entry.Fix, o.Language)))
	}
	if len(explained) == 0 {
		return nil
	}
	_, err := io.WriteString(w, "\n"+o.Style.Paint(Header, "代码")+"\n"+b.String())
	return err
}
