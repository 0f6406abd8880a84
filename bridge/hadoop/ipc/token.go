package ipc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Token authenticates a caller, such as a delegation token of the ResourceManager.
type Token struct {
	// Identifier and Password are secret to everybody but the server.
	Identifier, Password []byte
	// Kind is what the token is for, such as RM_DELEGATION_TOKEN, and Service the address of the server it is for.
	Kind, Service string
}

// String names the token without its secret.
func (t *Token) String() string { return t.Kind + " for " + t.Service }

// ParseToken reads a TokenProto.
func ParseToken(message []byte) (*Token, error) {
	out := &Token{}
	err := Fields(message, func(number protowire.Number, value Value) {
		switch number {
		case 1:
			out.Identifier = value.Bytes
		case 2:
			out.Password = value.Bytes
		case 3:
			out.Kind = string(value.Bytes)
		case 4:
			out.Service = string(value.Bytes)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read a token: %w", err)
	}
	return out, nil
}

// tokenFileMagic begins a file of tokens.
const tokenFileMagic = "HDTS"

// ParseTokenFile reads the tokens of a file that Hadoop has written, in either of its formats.
func ParseTokenFile(content []byte) ([]*Token, error) {
	if len(content) < len(tokenFileMagic)+1 || string(content[:len(tokenFileMagic)]) != tokenFileMagic {
		return nil, errors.New("read a file of tokens: it does not begin with " + tokenFileMagic)
	}
	version, body := content[len(tokenFileMagic)], content[len(tokenFileMagic)+1:]
	var tokens []*Token
	var err error
	switch version {
	case 0:
		tokens, err = parseWritableTokens(body)
	case 1:
		tokens, err = parseProtobufTokens(body)
	default:
		err = fmt.Errorf("its version is %d; 0 and 1 are supported", version)
	}
	if err != nil {
		return nil, fmt.Errorf("read a file of tokens: %w", err)
	}
	return tokens, nil
}

// parseProtobufTokens reads a CredentialsProto with its length.
func parseProtobufTokens(body []byte) (tokens []*Token, err error) {
	message, _, err := takeDelimited(body)
	if err != nil {
		return nil, err
	}
	var inner error
	err = Fields(message, func(number protowire.Number, entry Value) {
		if number != 1 {
			return
		}
		inner = errors.Join(inner, Fields(entry.Bytes, func(number protowire.Number, value Value) {
			if number == 2 {
				token, err := ParseToken(value.Bytes)
				tokens, inner = append(tokens, token), errors.Join(inner, err)
			}
		}))
	})
	return tokens, errors.Join(err, inner)
}

// parseWritableTokens reads the older format: the number of tokens, and for each its alias, identifier, password, kind and service.
func parseWritableTokens(body []byte) (tokens []*Token, err error) {
	count, body, err := takeVInt(body)
	if err != nil {
		return nil, err
	}
	for range count {
		var parts [5][]byte
		for i := range parts {
			if parts[i], body, err = takeText(body); err != nil {
				return nil, err
			}
		}
		tokens = append(tokens, &Token{Identifier: parts[1], Password: parts[2], Kind: string(parts[3]), Service: string(parts[4])})
	}
	return tokens, nil
}

func takeText(from []byte) (text, rest []byte, err error) {
	length, rest, err := takeVInt(from)
	if err != nil {
		return nil, nil, err
	}
	if length < 0 || length > int64(len(rest)) {
		return nil, nil, fmt.Errorf("a text of %d bytes in %d bytes", length, len(rest))
	}
	return rest[:length], rest[length:], nil
}

// takeVInt reads a number as Hadoop's WritableUtils writes it: one byte from -112 to 127, or else a byte that tells sign and length of
// the big-endian bytes that follow.
func takeVInt(from []byte) (value int64, rest []byte, err error) {
	if len(from) == 0 {
		return 0, nil, errors.New("a number is missing")
	}
	first := int8(from[0]) //nolint:gosec // it is a signed byte
	if first >= -112 {
		return int64(first), from[1:], nil
	}
	length, negative := -112-int(first), false
	if first < -120 {
		length, negative = -120-int(first), true
	}
	if len(from) < 1+length {
		return 0, nil, errors.New("a number is cut off")
	}
	var bytes [8]byte
	copy(bytes[8-length:], from[1:1+length])
	value = int64(binary.BigEndian.Uint64(bytes[:])) //nolint:gosec // the bits are those of a long
	if negative {
		value = ^value
	}
	return value, from[1+length:], nil
}
