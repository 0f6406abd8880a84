package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// Hints for the ways in which a kubeconfig leads to no cluster. Only who has none at all is offered a sandbox.
const (
	noClusterHint   = "koordctl sandbox up starts one on this machine; kubectl config get-contexts lists those you have"
	contextHint     = "kubectl config get-contexts lists those you have"
	certificateHint = "kubectl config view --minify shows the server and the certificate authority in use"
	kubeconfigHint  = "kubectl config view reads it the same way; KUBECONFIG and --kubeconfig name the file"
	unreachableHint = "kubectl config view --minify shows the server; kubectl cluster-info asks it"
)

// request is what was asked of the API server, in the words of RBAC.
type request struct {
	verb, group, resource, namespace, name string
}

// requestFor is a request for objects of a kind; the namespace is left out for kinds without one.
func requestFor(verb string, kind source.Kind, namespace string) request {
	r := request{verb: verb, group: kind.API.Group, resource: kind.Plural}
	if kind.Namespaced {
		r.namespace = namespace
	}
	return r
}

// String says the request the way a person would: list pods in namespace "shop".
func (r request) String() string {
	text := r.verb + " " + r.qualified()
	if r.name != "" {
		text += fmt.Sprintf(" %q", r.name)
	}
	if r.namespace != "" {
		text += fmt.Sprintf(" in namespace %q", r.namespace)
	}
	return text
}

func (r request) qualified() string {
	if r.group == "" {
		return r.resource
	}
	return r.resource + "." + r.group
}

func (r request) canI() string {
	text := "kubectl auth can-i " + r.verb + " " + r.qualified()
	switch {
	case r.namespace != "":
		return text + " -n " + r.namespace
	case r.resource == "pods":
		return text + " -A"
	default:
		return text
	}
}

// missingEntry is how client-go says that a cluster, a user or a context is not in the kubeconfig; it has no type for it.
var missingEntry = regexp.MustCompile(`(cluster|auth info|context) "[^"]*" does not exist`)

// ConfigFailure gives the error of a kubeconfig that leads to no cluster its code and the next command to run.
func ConfigFailure(err error) error {
	if _, coded := finding.From(err); coded {
		return err
	}
	if clientcmd.IsEmptyConfig(err) {
		return finding.Wrap(errors.New("no cluster: there is no kubeconfig"), finding.ClusterUnreachable, noClusterHint)
	}
	if clientcmd.IsContextNotFound(err) || missingEntry.MatchString(err.Error()) {
		return finding.Wrap(fmt.Errorf("read the kubeconfig: %w", err), finding.ContextUnknown, contextHint)
	}
	return finding.Wrap(fmt.Errorf("read the kubeconfig: %w", err), finding.KubeconfigInvalid, kubeconfigHint)
}

// failure gives an error of the API server its code and the next command to run. An interruption stays what it is.
func failure(ctx context.Context, r request, err error) error {
	switch {
	case err == nil:
		return nil
	case canceled(ctx, err):
		return fmt.Errorf("%s: %w", r, context.Canceled)
	case apierrors.IsForbidden(err):
		return forbidden(r, err)
	case apierrors.IsNotFound(err) && r.name == "" && r.group != "":
		return finding.Wrap(fmt.Errorf("%s: the server doesn't have this resource type", r), finding.NotInstalled, "koordctl install")
	case apierrors.IsNotFound(err):
		return finding.Wrap(fmt.Errorf("%s: not found", r), finding.NotFound, "")
	}
	return unanswered(r.String(), err)
}

// Failure gives an error of requests that another library made the code and the next command to run that the same error of this source
// has. What says what they were for. Errors of other kinds, and those that have a code, stay as they are.
func Failure(ctx context.Context, what string, err error) error {
	if _, coded := finding.From(err); err == nil || coded {
		return err
	}
	if canceled(ctx, err) {
		return fmt.Errorf("%s: %w", what, context.Canceled)
	}
	if r, refused := forbiddenRequest(err); refused {
		return forbidden(r, err)
	}
	if found := unanswered(what, err); hasCode(found, finding.Forbidden, finding.CertificateRejected, finding.ClusterUnreachable) {
		return found
	}
	return err
}

func forbidden(r request, err error) error {
	return finding.Wrap(fmt.Errorf("%s: %s", r, notPermitted(err)), finding.Forbidden, r.canI())
}

// unanswered gives an error of the connection its code.
func unanswered(what string, err error) error {
	switch {
	case apierrors.IsUnauthorized(err):
		return finding.Wrap(fmt.Errorf("%s: you must be logged in to the server (Unauthorized)", what), finding.Forbidden, "kubectl auth whoami")
	case distrusted(err):
		return finding.Wrap(fmt.Errorf("%s: %w", what, innermost(err)), finding.CertificateRejected, certificateHint)
	case unreachable(err):
		return finding.Wrap(fmt.Errorf("%s: the API server cannot be reached: %w", what, innermost(err)), finding.ClusterUnreachable, unreachableHint)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// refusedRequest is how RBAC says what it refuses.
var refusedRequest = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// forbiddenRequest reads from an error what was refused; false for other errors. Helm keeps the text of some errors alone.
func forbiddenRequest(err error) (request, bool) {
	found := refusedRequest.FindStringSubmatch(err.Error())
	if found == nil {
		return request{}, false
	}
	r := request{verb: found[1], resource: found[2], group: found[3], namespace: found[4]}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil && r.verb != "create" {
		r.name = status.Status().Details.Name
	}
	return r, true
}

// notPermitted says that RBAC refused, and whom where its message names the user.
func notPermitted(err error) string {
	if user := forbiddenUser(err); user != "" {
		return fmt.Sprintf("not permitted for user %q", user)
	}
	return "not permitted"
}

// forbiddenUser takes from RBAC's own message who was refused: of User "eve" cannot list ... it is eve.
func forbiddenUser(err error) string {
	_, rest, _ := strings.Cut(err.Error(), `User "`)
	user, _, found := strings.Cut(rest, `"`)
	if !found {
		return ""
	}
	return user
}

// distrusted is true when one of the two sides does not accept the certificate of the other.
func distrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid) ||
		errors.As(err, &record) || errors.As(err, &alert) || strings.Contains(err.Error(), "remote error: tls:")
}

// unreachable is true when no API server said anything: the error is the network's, not a Status.
func unreachable(err error) bool {
	var status apierrors.APIStatus
	var network *url.Error
	return !errors.As(err, &status) && (errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded))
}

// innermost drops the method and URL that Go puts before a network error.
func innermost(err error) error {
	var network *url.Error
	if errors.As(err, &network) {
		return network.Err
	}
	return err
}

// hasCode says whether an error carries a code of the catalogue.
func hasCode(err error, codes ...finding.Code) bool {
	found, ok := finding.From(err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if found.Code == code {
			return true
		}
	}
	return false
}

// text is an error's text with its code, for an answer's Incomplete.
func text(err error, consequence string) string {
	line := err.Error()
	if consequence != "" {
		line += "; " + consequence
	}
	if found, ok := finding.From(err); ok {
		line += " (" + string(found.Code) + ")"
	}
	return line
}
