package ipc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// TestDigest: the example of RFC 2831, section 4, but for the user, which is a token here.
func TestDigest(t *testing.T) {
	d := &digest{user: "chris", password: "secret", realm: "elwood.innosoft.com", uri: "imap/elwood.innosoft.com", nonce: "OA6MG9tEQGm2hh", cnonce: "OA6MHXh6VqTrRk"}
	if got := d.hash("AUTHENTICATE"); got != "d388dad90d4bbd760a152321f2143af7" {
		t.Errorf("response = %s", got)
	}
	if !d.proves([]byte("rspauth=ea40f60335c427b5527b84dbabcdfffd")) {
		t.Error("the server's proof is refused")
	}
	if d.proves([]byte("rspauth=0")) || d.proves([]byte("nonsense")) {
		t.Error("a proof that is none is taken")
	}
}

func TestNewDigest(t *testing.T) {
	token := &Token{Identifier: []byte("id"), Password: []byte("pw")}
	tests := map[string]struct {
		challenge string
		wantErr   string
	}{
		"of Hadoop":       {challenge: `realm="default",nonce="a,\"b",charset=utf-8,algorithm=md5-sess,qop="auth"`},
		"with protection": {challenge: `nonce="a",qop="auth-conf"`, wantErr: `protection "auth-conf"`},
		"without a nonce": {challenge: `realm="default"`, wantErr: "no nonce"},
		"without an end":  {challenge: `nonce="a`, wantErr: "has no end"},
		"without a value": {challenge: `nonce`, wantErr: "has no value"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := newDigest(token, saslAuth{server: "default", challenge: []byte(test.challenge)})
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Errorf("newDigest() = %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d.nonce != `a,"b` || d.uri != "/default" || d.user != base64.StdEncoding.EncodeToString([]byte("id")) {
				t.Errorf("newDigest() = %+v", d)
			}
			if response := string(d.response()); !strings.Contains(response, `nonce="a,\"b"`) {
				t.Errorf("response = %s", response)
			}
		})
	}
}

func TestParseTokenFile(t *testing.T) {
	want := []*Token{{Identifier: []byte("id"), Password: []byte{0, 255}, Kind: "RM_DELEGATION_TOKEN", Service: "127.0.0.1:8032"}}
	text := func(b []byte, value string) []byte { return append(append(b, byte(len(value))), value...) }
	writable := append([]byte("HDTS"), 0, 1)
	for _, part := range []string{"alias", "id", "\x00\xff", "RM_DELEGATION_TOKEN", "127.0.0.1:8032"} {
		writable = text(writable, part)
	}
	var token []byte
	for i, part := range []string{"id", "\x00\xff", "RM_DELEGATION_TOKEN", "127.0.0.1:8032"} {
		token = protowire.AppendString(protowire.AppendTag(token, protowire.Number(i+1), protowire.BytesType), part)
	}
	entry := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), token)
	protobuf := appendDelimited([]byte("HDTS\x01"), protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), entry))
	for name, content := range map[string][]byte{"writable": append(writable, 0), "protobuf": protobuf} {
		got, err := ParseTokenFile(content)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s, %v (-want +got):\n%s", name, err, diff)
		}
	}
	for name, content := range map[string]string{"empty": "", "another file": "HDFS\x00", "a later version": "HDTS\x07", "cut off": "HDTS\x00\x01\x05al"} {
		if _, err := ParseTokenFile([]byte(content)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestVInt(t *testing.T) {
	tests := map[string]struct {
		in   []byte
		want int64
	}{
		"small": {[]byte{127}, 127}, "below zero": {[]byte{0x90}, -112}, "one byte more": {[]byte{0x8f, 128}, 128},
		"two": {[]byte{0x8e, 1, 0}, 256}, "negative": {[]byte{0x87, 0x80}, -129},
	}
	for name, test := range tests {
		if got, rest, err := takeVInt(test.in); err != nil || got != test.want || len(rest) != 0 {
			t.Errorf("%s: takeVInt(%v) = %d, %v, %v; want %d", name, test.in, got, rest, err, test.want)
		}
	}
}

func TestFramesBeyondTheLimitAreNotRead(t *testing.T) {
	if _, err := readFrame(bytes.NewReader(binary.BigEndian.AppendUint32(nil, MaxFrame+1))); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("readFrame() = %v", err)
	}
	// A length that nothing follows costs no more memory than one step.
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = readFrame(bytes.NewReader(binary.BigEndian.AppendUint32(nil, MaxFrame)))
		}
	}).AllocedBytesPerOp()
	if allocated > 4*readStep {
		t.Errorf("reading a frame that ends after its length allocates %d bytes", allocated)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte{0, 0, 0, 6, 4, 8, 1, 16, 0, 0})
	f.Fuzz(func(_ *testing.T, stream []byte) {
		frame, err := readFrame(bytes.NewReader(stream))
		if err != nil {
			return
		}
		if header, _, err := takeDelimited(frame); err == nil {
			_, _ = parseResponseHeader(header)
			_, _ = parseSASL(header)
		}
	})
}

func FuzzParseTokenFile(f *testing.F) {
	f.Add([]byte("HDTS\x00\x01\x01a\x01b\x01c\x01d\x01e\x00"))
	f.Add([]byte("HDTS\x01\x00"))
	f.Fuzz(func(_ *testing.T, content []byte) { _, _ = ParseTokenFile(content) })
}

func FuzzParseDirectives(f *testing.F) {
	f.Add(`realm="default",nonce="x\"y",qop=auth`)
	f.Fuzz(func(_ *testing.T, text string) { _, _ = parseDirectives(text) })
}
