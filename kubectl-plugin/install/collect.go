package install

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/source/live"
)

// APIServiceName is the registration of the diagnostics API.
const APIServiceName = "v1alpha1.diagnostics.koordinator.sh"

const configName = "slo-controller-config"

var (
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// collector gathers an InstallationStatus part by part. A part that may not be read is reported as unknown and does not
// keep the others from being read; an API server that does not answer ends the collection.
type collector struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
	clock   clock.PassiveClock
	// release returns the release, as release.Status does.
	release func(context.Context) (*release.Release, error)
	// enforcement returns the columns of the NodeMetrics.
	enforcement func(context.Context) (*metav1.Table, error)
	status      *InstallationStatus
	// config is what of slo-controller-config is in force.
	config configmerge.Config
	// goesOn is true where a request that the API server fails to answer leaves its part unknown, instead of ending the collection.
	goesOn bool
	// part is what is being read, and unread why parts could not be read whole.
	part   Part
	unread map[Part][]string
	// objects are what was read.
	objects Objects
}

// collect gathers the status of what is in the namespace. A cluster that has nothing of the system is a NotInstalled error.
func (c *collector) collect(ctx context.Context, namespace string) (*InstallationStatus, error) {
	if err := c.collectParts(ctx, namespace); err != nil {
		return nil, err
	}
	if !c.status.Installed() {
		err := fmt.Errorf("the system is not installed in namespace %q", namespace)
		return nil, finding.Wrap(err, finding.NotInstalled, "koordctl install")
	}
	return c.status, nil
}

// collectParts gathers the status whatever there is of the system.
func (c *collector) collectParts(ctx context.Context, namespace string) error {
	c.status = &InstallationStatus{TypeMeta: typeMeta("InstallationStatus"), Namespace: namespace}
	for _, step := range []struct {
		part Part
		read func(context.Context) error
	}{
		{PartRelease, c.collectRelease}, {PartKubernetes, c.collectKubernetes}, {PartConfig, c.collectConfig}, {PartEvictions, c.collectEvictions},
		{PartDeployments, c.collectComponents}, {PartDefinitions, c.collectDefinitions}, {PartAPI, c.collectAPI}, {PartProtections, c.collectProtections},
		{PartEnforcement, c.collectEnforcement}, {PartNodes, c.collectNodes}, {PartQuotas, c.collectQuotas}, {PartLoops, c.collectLoops},
	} {
		c.part = step.part
		if err := step.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// unseen records a part that may not be read, or whose request failed where the collection goes on, and reports whether that was the
// reason. Other errors are the caller's.
func (c *collector) unseen(err error) bool {
	var answer apierrors.APIStatus
	switch {
	case apierrors.IsForbidden(err):
		c.incomplete(live.Failure(context.Background(), "", err))
	case c.goesOn && errors.As(err, &answer) && answer.Status().Code >= http.StatusInternalServerError:
		c.incomplete(fmt.Errorf("read %s: %w", c.part, err))
	default:
		return false
	}
	return true
}

// incomplete notes why a part could not be seen.
func (c *collector) incomplete(err error) {
	text := err.Error()
	if coded, ok := finding.From(err); ok {
		text += " (" + string(coded.Code) + ")"
	}
	if c.unread == nil {
		c.unread = map[Part][]string{}
	}
	if !slices.Contains(c.unread[c.part], text) {
		c.unread[c.part] = append(c.unread[c.part], text)
	}
	if !slices.Contains(c.status.Incomplete, text) {
		c.status.Incomplete = append(c.status.Incomplete, text)
	}
}

func (c *collector) find(code finding.Code, message, hint string) {
	c.status.Findings = append(c.status.Findings, diagnosticsv1alpha1.Finding{
		Code: string(code), Severity: diagnosticsv1alpha1.Severity(code.Severity()), Message: message, Hint: hint,
	})
}

func (c *collector) collectRelease(ctx context.Context) error {
	found, err := c.release(ctx)
	if coded, ok := finding.From(err); ok {
		switch {
		case coded.Code == finding.ReleaseNotFound:
			c.status.ReleaseState = StateAbsent
			return nil
		case coded.Code == finding.Forbidden:
			c.status.ReleaseState = StateUnknown
			c.incomplete(err)
			return nil
		}
	}
	if c.unseen(err) {
		c.status.ReleaseState = StateUnknown
		return nil
	}
	if err != nil {
		return err
	}
	c.status.Release = &ReleaseStatus{
		Name: found.Name, Revision: found.Revision, Status: found.Status, ChartVersion: found.ChartVersion,
		AppVersion: found.AppVersion, Updated: metav1.NewTime(found.Updated),
	}
	c.status.ReleaseState = StateReady
	if found.Status != "deployed" {
		c.status.ReleaseState = StateDegraded
		c.find(finding.InstallFailed, fmt.Sprintf("release %q is %s: %s", found.Name, found.Status, found.Description), "koordctl install")
	}
	return nil
}

func (c *collector) collectConfig(ctx context.Context) error {
	state := &c.status.Config
	state.Name = configName
	c.config = configmerge.Default()
	config, err := c.client.CoreV1().ConfigMaps(c.status.Namespace).Get(ctx, configName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return c.judgeMissing(ctx)
	case c.unseen(err):
		state.State = StateUnknown
		return nil
	case err != nil:
		return fmt.Errorf("get configmap %q in namespace %q: %w", configName, c.status.Namespace, err)
	}
	return c.judgeConfig(ctx, config)
}

func (c *collector) collectAPI(ctx context.Context) error {
	state := &c.status.API
	state.Name = APIServiceName
	service, err := c.dynamic.Resource(apiServices).Get(ctx, APIServiceName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		state.State = StateAbsent
	case c.unseen(err):
		state.State = StateUnknown
		return nil
	case err != nil:
		return fmt.Errorf("get apiservice %q: %w", APIServiceName, err)
	default:
		c.objects.APIService = service
		available, why := Condition(service, "Available")
		state.State, state.Detail = StateReady, ""
		if !available {
			state.State, state.Detail = StateDown, why
		}
	}
	if state.State != StateReady {
		c.find(finding.DiagnosticsUnavailable, fmt.Sprintf("apiservice %q is %s: questions are answered from API objects only", APIServiceName, state.State),
			"kubectl get apiservice "+APIServiceName)
	}
	return nil
}

// Condition returns whether a condition of an object is true, and its message.
func Condition(object *unstructured.Unstructured, kind string) (bool, string) {
	entries, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range entries {
		if fields, ok := entry.(map[string]any); ok && fields["type"] == kind {
			message, _ := fields["message"].(string)
			return fields["status"] == string(metav1.ConditionTrue), message
		}
	}
	return false, ""
}
