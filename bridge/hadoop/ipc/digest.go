package ipc

import (
	"crypto/md5" //nolint:gosec // the mechanism is defined with it
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// digest is one authentication by DIGEST-MD5 (RFC 2831) with quality of protection "auth".
type digest struct {
	user, password string
	realm, uri     string
	nonce, cnonce  string
}

// newDigest reads a server's challenge.
func newDigest(token *Token, auth saslAuth) (*digest, error) {
	directives, err := parseDirectives(string(auth.challenge))
	if err != nil {
		return nil, fmt.Errorf("authenticate by SASL: %w", err)
	}
	if directives["nonce"] == "" {
		return nil, errors.New("authenticate by SASL: the server's challenge has no nonce")
	}
	if qop, said := directives["qop"]; said && !containsWord(qop, "auth") {
		return nil, fmt.Errorf("authenticate by SASL: the server requires protection %q, and only auth is supported", qop)
	}
	return &digest{
		user:     base64.StdEncoding.EncodeToString(token.Identifier),
		password: base64.StdEncoding.EncodeToString(token.Password),
		realm:    directives["realm"],
		uri:      auth.protocol + "/" + auth.server,
		nonce:    directives["nonce"],
		cnonce:   rand.Text(),
	}, nil
}

// response to the challenge.
func (d *digest) response() []byte {
	return fmt.Appendf(nil, `charset=utf-8,username="%s",realm="%s",nonce="%s",nc=00000001,cnonce="%s",digest-uri="%s",maxbuf=65536,response=%s,qop=auth`,
		quoted(d.user), quoted(d.realm), quoted(d.nonce), quoted(d.cnonce), quoted(d.uri), d.hash("AUTHENTICATE"))
}

// proves says whether a server that answers so knows the password.
func (d *digest) proves(answer []byte) bool {
	directives, err := parseDirectives(string(answer))
	return err == nil && subtle.ConstantTimeCompare([]byte(directives["rspauth"]), []byte(d.hash(""))) == 1
}

// hash is the response-value of a side, of which the client begins with AUTHENTICATE.
func (d *digest) hash(side string) string {
	secret := md5.Sum([]byte(d.user + ":" + d.realm + ":" + d.password)) //nolint:gosec // see above
	first := hexMD5(string(secret[:]) + ":" + d.nonce + ":" + d.cnonce)
	return hexMD5(first + ":" + d.nonce + ":00000001:" + d.cnonce + ":auth:" + hexMD5(side+":"+d.uri))
}

func hexMD5(text string) string {
	sum := md5.Sum([]byte(text)) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

func quoted(text string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) }

func containsWord(list, word string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(one) == word {
			return true
		}
	}
	return false
}

// parseDirectives reads NAME=VALUE,NAME="VALUE",... of which the last of a name counts.
func parseDirectives(text string) (map[string]string, error) {
	out := map[string]string{}
	for text = strings.TrimLeft(text, ", "); text != ""; text = strings.TrimLeft(text, ", ") {
		name, rest, found := strings.Cut(text, "=")
		if !found {
			return nil, fmt.Errorf("the directive %.40q has no value", text)
		}
		value, after, _ := strings.Cut(rest, ",")
		if strings.HasPrefix(rest, `"`) {
			if value, after, found = unquote(rest[1:]); !found {
				return nil, fmt.Errorf("the value of directive %.40q has no end", name)
			}
		}
		text = after
		out[strings.TrimSpace(name)] = value
	}
	return out, nil
}

// unquote reads up to the quote that ends a value.
func unquote(text string) (value, rest string, ended bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return b.String(), text[i+1:], true
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}
