package nri

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/go-logr/logr"
)

// watched is a connection that reports its end.
type watched struct {
	net.Conn
	once  sync.Once
	ended chan struct{}
}

// Read implements net.Conn.
func (w *watched) Read(buffer []byte) (int, error) {
	n, err := w.Conn.Read(buffer)
	if err != nil {
		w.once.Do(func() { close(w.ended) })
	}
	return n, err
}

// logger writes what the library says where the agent does. What it reports is of interest when something is looked for.
type logger struct{ logr.Logger }

// Debugf implements log.Logger.
func (l logger) Debugf(_ context.Context, format string, args ...any) {
	l.V(5).Info(fmt.Sprintf(format, args...))
}

// Infof implements log.Logger.
func (l logger) Infof(_ context.Context, format string, args ...any) {
	l.V(4).Info(fmt.Sprintf(format, args...))
}

// Warnf implements log.Logger.
func (l logger) Warnf(_ context.Context, format string, args ...any) {
	l.V(2).Info(fmt.Sprintf(format, args...))
}

// Errorf implements log.Logger.
func (l logger) Errorf(_ context.Context, format string, args ...any) {
	l.V(2).Info(fmt.Sprintf(format, args...))
}
