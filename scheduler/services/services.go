// Package services answers HTTP requests about what plugins know, under the paths of upstream: read-only, as JSON. It serves
// nothing by itself: the diagnostics server does, for requests that are authenticated and authorized for the path.
package services

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	fwk "k8s.io/kube-scheduler/framework"
)

// Base is where all paths begin.
const Base = "/apis/v1/"

// Endpoint is one path of a plugin and what it answers.
type Endpoint struct {
	// Path below that of the plugin, such as "nodes/{nodeName}".
	Path string
	// Answer returns what is encoded as JSON. It must be safe for concurrent use, and what it returns must not change.
	Answer func(ctx context.Context, call Call) (any, error)
}

// Call is one request.
type Call struct {
	// Parameter returns the part of the path that stands in the place of {name}.
	Parameter func(name string) string
	// Query of the URL.
	Query url.Values
	// Nodes as the scheduler's cache shows them, with assumed pods.
	Nodes Nodes
}

// Nodes are what a scheduler's cache shows at one moment.
type Nodes interface {
	Get(name string) (fwk.NodeInfo, error)
	List() ([]fwk.NodeInfo, error)
}

// Provider is a plugin that has endpoints.
type Provider interface {
	Name() string
	Endpoints() []Endpoint
}

// failure is an error with a status of HTTP.
type failure struct {
	status  int
	message string
}

// Error implements error.
func (f *failure) Error() string { return f.message }

// NotFound is the error of an answer about something that does not exist.
func NotFound(format string, operands ...any) error {
	return &failure{status: http.StatusNotFound, message: fmt.Sprintf(format, operands...)}
}

// Unavailable is the error of an answer about something that is not known yet.
func Unavailable(format string, operands ...any) error {
	return &failure{status: http.StatusServiceUnavailable, message: fmt.Sprintf(format, operands...)}
}
