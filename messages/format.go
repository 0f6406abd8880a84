package messages

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// format is an entry into which something is put. In a key, %s stands for what stays as it is, such as a name or an amount, %d for a number,
// %q for what is quoted, and %v for a message.
type format struct {
	// literals are the texts before, between and behind the verbs.
	literals []string
	verbs    []byte
	// certain is the length of the literals: of two formats, that with more text is tried first.
	certain int
	pieces  []piece
}

// piece of a translation: a text, and the argument behind it; -1 for none.
type piece struct {
	text     string
	argument int
}

var (
	verb = regexp.MustCompile(`%(?:\[(\d)\])?([sdqv])|%%`)
	// punctuation divides sentences.
	punctuation = regexp.MustCompile(`[,;:.] |[()]`)
	// amount with its unit, as in 4 cores.
	amount = regexp.MustCompile(`^[-+]?\d[\d.,]*\w* \w+$`)
	number = regexp.MustCompile(`^[-+]?\d[\d.,]*$`)
)

func newFormat(english, chinese string) (*format, error) {
	f := &format{}
	literal, from := "", 0
	for _, at := range verb.FindAllStringSubmatchIndex(english, -1) {
		literal += english[from:at[0]]
		from = at[1]
		if at[4] < 0 {
			literal += "%"
			continue
		}
		if len(f.verbs) > 0 && literal == "" {
			return nil, fmt.Errorf("%q has two verbs with nothing between them", english)
		}
		f.literals, f.verbs = append(f.literals, literal), append(f.verbs, english[at[4]])
		f.certain += len(literal)
		literal = ""
	}
	literal += english[from:]
	f.literals = append(f.literals, literal)
	f.certain += len(literal)
	return f, f.translate(english, chinese)
}

// translate divides the translation. Every verb has to be in it once, the same as in the key.
func (f *format) translate(english, chinese string) error {
	next, from, text := 0, 0, ""
	used := make([]bool, len(f.verbs))
	for _, at := range verb.FindAllStringSubmatchIndex(chinese, -1) {
		text += chinese[from:at[0]]
		from = at[1]
		if at[4] < 0 {
			text += "%"
			continue
		}
		argument := next
		if at[2] >= 0 {
			n, err := strconv.Atoi(chinese[at[2]:at[3]])
			if err != nil {
				return err
			}
			argument = n - 1
		}
		if argument < 0 || argument >= len(used) || used[argument] || f.verbs[argument] != chinese[at[4]] {
			return fmt.Errorf("the translation of %q has other verbs: %q", english, chinese)
		}
		used[argument], next = true, argument+1
		f.pieces = append(f.pieces, piece{text: text, argument: argument})
		text = ""
	}
	f.pieces = append(f.pieces, piece{text: text + chinese[from:], argument: -1})
	for _, is := range used {
		if !is {
			return fmt.Errorf("the translation of %q lacks a verb: %q", english, chinese)
		}
	}
	return nil
}

// telling formats have enough text of their own to be recognised by it.
func (f *format) telling() bool { return f.certain >= 10 }

// match says what was put into the format where it made the text. It reads the text once: an argument ends where the literal behind it
// first comes, that of the last verb at the end.
func (f *format) match(text string) ([]string, bool) {
	rest, ok := strings.CutPrefix(text, f.literals[0])
	if !ok {
		return nil, false
	}
	arguments := make([]string, len(f.verbs))
	for i := range f.verbs {
		literal := f.literals[i+1]
		end := strings.Index(rest, literal)
		if i == len(f.verbs)-1 {
			end = len(rest) - len(literal)
			if !strings.HasSuffix(rest, literal) {
				return nil, false
			}
		}
		if end <= 0 || !f.fits(i, rest[:end]) {
			return nil, false
		}
		arguments[i], rest = rest[:end], rest[end+len(literal):]
	}
	return arguments, true
}

// fits says whether it could have been put into a verb. A name has no punctuation that sentences have; it has spaces only if it is an amount or
// the format leaves no doubt, as with commands. A message closes its parentheses, and is one clause unless a colon stands before it.
func (f *format) fits(at int, argument string) bool {
	switch f.verbs[at] {
	case 'd':
		return number.MatchString(argument)
	case 'q':
		return len(argument) > 1 && argument[0] == '"' && argument[len(argument)-1] == '"'
	case 'v':
		return balanced(argument) && (strings.HasSuffix(f.literals[at], ": ") || !strings.Contains(argument, "; "))
	default:
		word := !strings.Contains(argument, " ") || amount.MatchString(argument)
		return !punctuation.MatchString(argument) && (word || f.telling() && (at > 0 || f.literals[0] != ""))
	}
}

func balanced(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
