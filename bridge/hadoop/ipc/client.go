package ipc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// Options of a Client.
type Options struct {
	// Address is HOST:PORT of the server.
	Address string
	// Protocol is the Java name of the interface that is called.
	Protocol string
	// User that calls, where the server trusts what clients say.
	User string
	// Token returns what authenticates the caller by SASL, and is called for each connection, because tokens expire and are renewed; nil where
	// there is none.
	Token func() (*Token, error)
	// Timeout bounds one call, connecting included; 0 means 10 s.
	Timeout time.Duration
}

const defaultTimeout = 10 * time.Second

// Client calls the methods of one protocol on one server. It connects when it is first used and after errors, and does one call at a
// time. It may be used by several goroutines.
type Client struct {
	options Options
	id      [16]byte

	mu     sync.Mutex
	open   net.Conn
	nextID int32
}

// NewClient returns a client, which must be closed.
func NewClient(options Options) *Client {
	c := &Client{options: options}
	_, _ = rand.Read(c.id[:]) // never fails
	if options.Timeout <= 0 {
		c.options.Timeout = defaultTimeout
	}
	return c
}

// Address of the server.
func (c *Client) Address() string { return c.options.Address }

// Close ends the connection.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

// Call calls a method with a request, both in protocol buffers, and returns the response. An exception of the server is a *RemoteError;
// after any other error it is unknown whether the server did what it was asked.
func (c *Client) Call(ctx context.Context, method string, request []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	response, err := c.call(ctx, method, request)
	if remote, ok := errors.AsType[*RemoteError](err); err != nil && (!ok || remote.Fatal) {
		c.drop()
	}
	if err != nil {
		return nil, fmt.Errorf("call %s of %s: %w", method, c.options.Address, errors.Join(err, ctx.Err()))
	}
	return response, nil
}

func (c *Client) call(ctx context.Context, method string, request []byte) ([]byte, error) {
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.interrupt(c.open))
	defer stop()
	c.nextID = (c.nextID + 1) & 0x7fffffff
	if err := writeFrame(c.open, requestHeader(c.nextID, c.id), methodHeader(method, c.options.Protocol), request); err != nil {
		return nil, err
	}
	header, message, err := receive(c.open)
	if err != nil {
		return nil, err
	}
	if header.status != statusSuccess {
		return nil, header.err()
	}
	if header.call != c.nextID {
		return nil, fmt.Errorf("the response is to call %d, not %d", header.call, c.nextID)
	}
	return message, nil
}

// interrupt ends reads and writes that are under way.
func (*Client) interrupt(conn net.Conn) func() {
	return func() { _ = conn.SetDeadline(time.Unix(1, 0)) } // of a closed connection, nothing is under way
}

// connect connects, if there is no connection.
func (c *Client) connect(ctx context.Context) error {
	if c.open != nil {
		return c.open.SetDeadline(time.Time{})
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.options.Address)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.interrupt(conn))
	defer stop()
	if err := c.greet(conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	c.open = conn
	return nil
}

// Values of the fourth to sixth byte of a connection.
const (
	version     = 9
	authNone    = 0x00
	authSASL    = 0xDF
	serviceNone = 0x00
)

// greet begins a connection.
func (c *Client) greet(conn net.Conn) error {
	auth, user := byte(authNone), c.options.User
	if c.options.Token != nil {
		auth, user = authSASL, ""
	}
	if _, err := conn.Write([]byte{'h', 'r', 'p', 'c', version, serviceNone, auth}); err != nil {
		return err
	}
	if c.options.Token != nil {
		if err := c.authenticate(conn); err != nil {
			return err
		}
	}
	return writeFrame(conn, requestHeader(contextCall, c.id), connectionContext(user, c.options.Protocol))
}

// drop closes the connection, of which the state is unknown.
func (c *Client) drop() {
	if c.open != nil {
		_ = c.open.Close() // nothing is lost with it
		c.open = nil
	}
}

// receive reads a response. The message is nil where the header says that the call failed.
func receive(conn net.Conn) (header responseHeader, message []byte, err error) {
	frame, err := readFrame(conn)
	if err != nil {
		return header, nil, err
	}
	encoded, rest, err := takeDelimited(frame)
	if err != nil {
		return header, nil, err
	}
	if header, err = parseResponseHeader(encoded); err != nil || header.status != statusSuccess {
		return header, nil, err
	}
	message, rest, err = takeDelimited(rest)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes follow the response", len(rest))
	}
	return header, message, err
}

// err is the exception that a header tells of.
func (h responseHeader) err() error {
	message, _, _ := strings.Cut(h.message, "\n")
	return &RemoteError{Class: h.class, Message: message, Fatal: h.status == statusFatal}
}
