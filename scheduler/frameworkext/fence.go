package frameworkext

import (
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
)

// fence keeps a process that has not renewed its lease in time from writing. A process that was stopped, as on a machine that
// hangs, goes on where it was when it is continued: until it checks its lease, it would bind pods by what it knew before
// another process took over.
type fence struct {
	next http.RoundTripper
	may  func() bool
}

// RoundTrip sends reads on, and writes while they are permitted. Other writes fail with an error like the API server's, so that
// callers do not take their outcome for unknown.
func (f *fence) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return f.next.RoundTrip(request)
	}
	if err := f.refusal(request); err != nil {
		if request.Body != nil {
			_ = request.Body.Close() // as the interface asks
		}
		return nil, err
	}
	return f.next.RoundTrip(f.guarded(request))
}

// refusal is why a write must not be made; nil when it may.
func (f *fence) refusal(request *http.Request) error {
	if f.may() {
		return nil
	}
	return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("%s %s: this process has not renewed its lease and must not write", request.Method, request.URL.Path))
}

// guarded is a request whose body asks once more. Between RoundTrip and the connection a request may wait, for one to be dialled or
// because the process was stopped there; without its body the API server does nothing.
func (f *fence) guarded(request *http.Request) *http.Request {
	if request.Body == nil || request.Body == http.NoBody {
		return request
	}
	out := request.WithContext(request.Context())
	out.Body = &guardedBody{request.Body, func() error { return f.refusal(request) }}
	if again := request.GetBody; again != nil {
		out.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return &guardedBody{body, func() error { return f.refusal(request) }}, nil
		}
	}
	return out
}

// guardedBody is read while nothing is against it.
type guardedBody struct {
	io.ReadCloser
	refusal func() error
}

// Read implements Reader.
func (b *guardedBody) Read(into []byte) (int, error) {
	if err := b.refusal(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(into)
}

// Fence has all clients of the scheduler write only while it leads, except for its lease and its events. Without leader
// election there is nothing to do.
func Fence(completed *kubeconfig.CompletedConfig, lock *Lock) error {
	if lock == nil {
		return nil
	}
	lock.valid = completed.LeaderElection.RenewDeadline
	completed.KubeConfig = rest.CopyConfig(completed.KubeConfig)
	completed.KubeConfig.Wrap(func(next http.RoundTripper) http.RoundTripper { return &fence{next: next, may: lock.Leads} })
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(completed.KubeConfig, "scheduler"))
	if err != nil {
		return fmt.Errorf("create a client that writes while it leads: %w", err)
	}
	completed.Client = client
	return nil
}
