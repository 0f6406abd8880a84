package ipc

import (
	"errors"
	"fmt"
	"net"

	"google.golang.org/protobuf/encoding/protowire"
)

// Values of RpcSaslProto.SaslState.
const (
	saslSuccess   = 0
	saslNegotiate = 1
	saslInitiate  = 2
	saslChallenge = 3
	saslResponse  = 4
)

// saslMechanism is the only one that is spoken, for tokens.
const saslMechanism = "DIGEST-MD5"

// saslMessage is the part of a RpcSaslProto that matters.
type saslMessage struct {
	state uint64
	token []byte
	auths []saslAuth
}

// saslAuth is a RpcSaslProto.SaslAuth.
type saslAuth struct {
	method, mechanism, protocol, server string
	challenge                           []byte
}

// authenticate authenticates the caller with its token.
func (c *Client) authenticate(conn net.Conn) error {
	answer, err := c.exchange(conn, saslMessage{state: saslNegotiate})
	if err != nil {
		return err
	}
	if answer.state == saslSuccess {
		return nil // the server trusts everybody
	}
	auth, err := answer.tokenAuth()
	if err != nil {
		return err
	}
	token, err := c.options.Token()
	if err != nil {
		return err
	}
	digest, err := newDigest(token, auth)
	if err != nil {
		return err
	}
	chosen := auth
	chosen.challenge = nil
	answer, err = c.exchange(conn, saslMessage{state: saslInitiate, token: digest.response(), auths: []saslAuth{chosen}})
	if err != nil {
		return err
	}
	if answer.state == saslChallenge {
		answer, err = c.exchange(conn, saslMessage{state: saslResponse})
		if err != nil {
			return err
		}
	}
	if answer.state != saslSuccess {
		return fmt.Errorf("authenticate by SASL: the server is in state %d", answer.state)
	}
	if answer.token != nil && !digest.proves(answer.token) {
		return errors.New("authenticate by SASL: the server does not know the token's password")
	}
	return nil
}

func (m saslMessage) tokenAuth() (saslAuth, error) {
	offered := make([]string, 0, len(m.auths))
	for _, auth := range m.auths {
		if auth.method == "TOKEN" && auth.mechanism == saslMechanism {
			return auth, nil
		}
		offered = append(offered, auth.method)
	}
	return saslAuth{}, fmt.Errorf("authenticate by SASL: the server takes no tokens, only %q", offered)
}

// exchange sends a message and returns the answer.
func (c *Client) exchange(conn net.Conn, message saslMessage) (answer saslMessage, err error) {
	if err := writeFrame(conn, requestHeader(saslCall, c.id), message.encode()); err != nil {
		return answer, err
	}
	header, encoded, err := receive(conn)
	if err != nil {
		return answer, err
	}
	if header.status != statusSuccess {
		return answer, header.err()
	}
	if header.call != saslCall {
		return answer, fmt.Errorf("authenticate by SASL: the response is to call %d", header.call)
	}
	return parseSASL(encoded)
}

func (m saslMessage) encode() []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), m.state)
	if m.token != nil {
		b = protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), m.token)
	}
	for _, auth := range m.auths {
		var a []byte
		for i, text := range []string{auth.method, auth.mechanism, auth.protocol, auth.server} {
			a = protowire.AppendString(protowire.AppendTag(a, protowire.Number(i+1), protowire.BytesType), text)
		}
		b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), a)
	}
	return b
}

func parseSASL(message []byte) (out saslMessage, err error) {
	var inner error
	err = Fields(message, func(number protowire.Number, value Value) {
		switch number {
		case 2:
			out.state = value.Varint
		case 3:
			out.token = value.Bytes
		case 4:
			auth, err := parseSASLAuth(value.Bytes)
			out.auths, inner = append(out.auths, auth), errors.Join(inner, err)
		}
	})
	return out, errors.Join(err, inner)
}

func parseSASLAuth(message []byte) (out saslAuth, err error) {
	err = Fields(message, func(number protowire.Number, value Value) {
		switch number {
		case 1:
			out.method = string(value.Bytes)
		case 2:
			out.mechanism = string(value.Bytes)
		case 3:
			out.protocol = string(value.Bytes)
		case 4:
			out.server = string(value.Bytes)
		case 5:
			out.challenge = value.Bytes
		}
	})
	return out, err
}
