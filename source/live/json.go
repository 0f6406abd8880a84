package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Lists of custom resources come in JSON, which a general decoder reads several times over. Here the bytes of an item are
// found in one pass that looks only at brackets and quotes; whether they are JSON, the decoder of the item says.

// splitJSON reads a list in JSON: the elements of the top level's items.
func splitJSON(r io.Reader, item func([]byte) error) error {
	return splitMembers(r, item, func(_, _ []byte) error { return nil })
}

// splitMembers reads a list in JSON: the elements of the top level's items, and its other members with their names in quotes.
func splitMembers(r io.Reader, item func([]byte) error, other func(key, value []byte) error) error {
	b := bufio.NewReaderSize(r, 64<<10)
	if err := expect(b, '{'); err != nil {
		return err
	}
	for {
		done, err := next(b, '}')
		if err != nil || done {
			return err
		}
		key, err := value(b, nil)
		if err != nil {
			return err
		}
		if err := expect(b, ':'); err != nil {
			return err
		}
		if string(key) == `"items"` {
			err = splitItems(b, item)
		} else {
			var text []byte
			if text, err = value(b, nil); err == nil {
				err = other(key, text)
			}
		}
		if err != nil {
			return err
		}
	}
}

func splitItems(b *bufio.Reader, item func([]byte) error) error {
	start, err := token(b)
	if err != nil {
		return err
	}
	if start == 'n' { // null, a list without items
		_, err := value(b, nil)
		return err
	}
	if start != '[' {
		return fmt.Errorf("read the list: items begins with %q, not with [", start)
	}
	if _, err := b.Discard(1); err != nil {
		return err
	}
	for {
		done, err := next(b, ']')
		if err != nil || done {
			return err
		}
		raw, err := value(b, buffer(0))
		if err != nil {
			return fmt.Errorf("read an item of the list: %w", err)
		}
		if err := item(raw); err != nil {
			return err
		}
	}
}

// token skips white space and returns the byte after it without consuming that.
func token(b *bufio.Reader) (byte, error) {
	for {
		c, err := b.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		case c != ' ' && c != '\n' && c != '\t' && c != '\r':
			return c, b.UnreadByte()
		}
	}
}

func expect(b *bufio.Reader, want byte) error {
	got, err := token(b)
	if err != nil {
		return fmt.Errorf("read the list: %w", err)
	}
	if got != want {
		return fmt.Errorf("read the list: found %q where %q belongs", got, want)
	}
	_, err = b.Discard(1)
	return err
}

// next goes to the next element of an object or array, or consumes its end and says so.
func next(b *bufio.Reader, end byte) (bool, error) {
	for {
		c, err := token(b)
		if err != nil {
			return false, fmt.Errorf("read the list: %w", err)
		}
		if c != end && c != ',' {
			return false, nil
		}
		if _, err := b.Discard(1); err != nil || c == end {
			return true, err
		}
	}
}

// value appends the bytes of the next value to into.
func value(b *bufio.Reader, into []byte) ([]byte, error) {
	if _, err := token(b); err != nil {
		return nil, err
	}
	var s scanner
	for start := len(into); ; {
		if _, err := b.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		piece, _ := b.Peek(b.Buffered())
		used, done := s.scan(piece)
		if done && len(into)-start+used == 0 {
			return nil, fmt.Errorf("found %q where a value belongs", piece[0])
		}
		if into = append(into, piece[:used]...); len(into) > itemLimit {
			return nil, fmt.Errorf("a value of more than %d bytes is too large", itemLimit)
		}
		if _, err := b.Discard(used); err != nil || done {
			return into, err
		}
	}
}

// scanner finds the end of one JSON value, which may come in pieces.
type scanner struct {
	depth                   int
	quoted, escaped, scalar bool
}

// structural are the bytes that matter outside of strings; all others belong to numbers and words.
var structural = [256]bool{'{': true, '}': true, '[': true, ']': true, '"': true, ',': true, ' ': true, '\n': true, '\t': true, '\r': true}

// scan returns how many bytes of the piece belong to the value, and whether it ends there.
func (s *scanner) scan(piece []byte) (int, bool) {
	for i, c := range piece {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped = true
		case s.quoted && c == '"':
			if s.quoted = false; s.depth == 0 {
				return i + 1, true
			}
		case s.quoted:
		case !structural[c]:
			s.scalar = true
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case s.depth == 0 && (s.scalar || c != ' '):
			return i, true
		case c == '}' || c == ']':
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(piece), false
}
