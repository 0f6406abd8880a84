package hookapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// FailurePolicy is what a server that fails means for the call that it was asked about.
type FailurePolicy string

// The policies.
const (
	// Fail fails the call.
	Fail FailurePolicy = "Fail"
	// Ignore goes on without the server. It is what an empty policy means too.
	Ignore FailurePolicy = "Ignore"
	// None is Ignore by the name it has where no policy was chosen.
	None FailurePolicy = "None"
)

// Registration is how a server of hooks makes itself known: a file whose name ends in .json in the directory that the proxy
// follows.
type Registration struct {
	// Endpoint is the path of the server's Unix socket.
	Endpoint string `json:"remote-endpoint"`
	// Policy is Ignore when empty.
	Policy FailurePolicy `json:"failure-policy,omitempty"`
	// Hooks at which the server is asked.
	Hooks []Hook `json:"runtime-hooks"`
}

// ParseRegistration reads a registration, and returns all that is wrong with it.
func ParseRegistration(content []byte) (Registration, error) {
	var out Registration
	if err := json.Unmarshal(content, &out); err != nil {
		return Registration{}, fmt.Errorf("read registration: %w", err)
	}
	out.Endpoint = strings.TrimPrefix(out.Endpoint, "unix://")
	var problems []error
	if !filepath.IsAbs(out.Endpoint) {
		problems = append(problems, fmt.Errorf("remote-endpoint %.80q is not an absolute path", out.Endpoint))
	}
	switch out.Policy {
	case "":
		out.Policy = Ignore
	case Fail, Ignore, None:
	default:
		problems = append(problems, fmt.Errorf("failure-policy %.40q must be Fail, Ignore or None", out.Policy))
	}
	if len(out.Hooks) == 0 {
		problems = append(problems, errors.New("runtime-hooks is empty"))
	}
	for _, hook := range out.Hooks {
		if !slices.Contains(Hooks(), hook) {
			problems = append(problems, fmt.Errorf("runtime-hooks: unsupported hook %.40q, must be one of %v", hook, Hooks()))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return Registration{}, fmt.Errorf("read registration: %w", err)
	}
	return out, nil
}
