package app

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
)

// readOnly returns a configuration whose clients refuse to send anything but reads. Explanations run plugins outside of
// a scheduling cycle, where whatever a plugin wrote would be wrong.
func readOnly(config *rest.Config) *rest.Config {
	restricted := rest.AddUserAgent(rest.CopyConfig(config), "scheduler-explain")
	restricted.Wrap(func(next http.RoundTripper) http.RoundTripper { return reader{next} })
	return restricted
}

type reader struct{ next http.RoundTripper }

// RoundTrip sends reads on.
func (r reader) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, fmt.Errorf("%s %s: an explanation must not write", request.Method, request.URL.Path)
	}
	return r.next.RoundTrip(request)
}
