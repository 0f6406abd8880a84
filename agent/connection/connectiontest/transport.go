package connectiontest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"syscall"
)

// answer is written by the server while the client reads it.
type answer struct {
	body    *io.PipeWriter
	reader  *io.PipeReader
	request *http.Request
	head    chan *http.Response
	// sent is the whole body of an answer that is no stream.
	sent []byte
}

// RoundTrip implements http.RoundTripper. The request ends with its context.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if !s.reached(r) {
		return nil, fmt.Errorf("dial %s: %w", r.URL.Host, syscall.ECONNREFUSED)
	}
	a := &answer{request: r, head: make(chan *http.Response, 1)}
	a.reader, a.body = io.Pipe()
	go func() {
		s.serve(a, r)
		_, _ = a.body.Write(a.sent) // a client that went reads nothing
		_ = a.body.Close()          // a pipe's never fails
	}()
	select {
	case response := <-a.head:
		return response, nil
	case <-r.Context().Done():
		_ = a.reader.Close() // a pipe's never fails; what is still written is dropped
		return nil, r.Context().Err()
	}
}

// begin sends the head; what is written to the body comes after.
func (a *answer) begin(status int) {
	a.head <- &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: a.reader, ContentLength: -1, Request: a.request,
	}
}

// send answers with an object. Its body is written when the server has let go of its lock.
func (a *answer) send(status int, o Object) {
	encoded, err := json.Marshal(o)
	if err != nil {
		status, encoded = http.StatusInternalServerError, []byte(err.Error())
	}
	a.sent = encoded
	a.begin(status)
}

// fail answers with a Status.
func (a *answer) fail(status int, reason string) {
	a.send(status, Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": status})
}
