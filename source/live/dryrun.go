package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

var _ source.DryRunner = (*Source)(nil)

// trialName begins the name that a pod is created with in a dry run while the one that it replaces still exists.
const trialName = "dry-run-"

// trial is one request of a fix.
type trial struct {
	request
	method, path, contentType string
	body                      []byte
	// dependent is true when what comes before it may be what it needs, so that a refusal says little.
	dependent bool
}

// DryRun asks the API server.
func (s *Source) DryRun(ctx context.Context, namespace string, fix *diagnosticsv1alpha1.Fix) {
	c, err := s.connect()
	if err != nil {
		return
	}
	var result diagnosticsv1alpha1.FixDryRun
	for _, t := range trials(namespace, fix) {
		verdict, message := c.try(ctx, t)
		right := t.verb + " " + t.qualified()
		if t.namespace != "" {
			right += " in namespace " + t.namespace
		}
		result.Requests = append(result.Requests, diagnosticsv1alpha1.FixRequest{Right: right, Verdict: verdict, Message: message})
	}
	if len(result.Requests) == 0 {
		return
	}
	result.Verdict = overall(result.Requests)
	fix.DryRun, fix.Verified = &result, fix.Verified && result.Verdict != diagnosticsv1alpha1.DryRunRefused
}

func overall(requests []diagnosticsv1alpha1.FixRequest) diagnosticsv1alpha1.DryRunVerdict {
	for _, verdict := range []diagnosticsv1alpha1.DryRunVerdict{diagnosticsv1alpha1.DryRunRefused, diagnosticsv1alpha1.DryRunForbidden, diagnosticsv1alpha1.DryRunUnknown} {
		for _, r := range requests {
			if r.Verdict == verdict {
				return verdict
			}
		}
	}
	return diagnosticsv1alpha1.DryRunAccepted
}

// trials are the requests of a fix in their order: its steps, and the replacement of a pod that has to be recreated.
func trials(namespace string, fix *diagnosticsv1alpha1.Fix) []trial {
	var list []trial
	for _, step := range fix.Steps {
		if step.Verb == "" {
			continue
		}
		t := trial{
			request: request{verb: step.Verb, group: step.Group, resource: step.Resource, namespace: step.Namespace, name: step.Name},
			method:  http.MethodDelete, contentType: step.PatchType, body: []byte(step.Patch), dependent: len(list) > 0,
		}
		t.path = pathOf(t.request, step.Version)
		if step.Verb == "patch" {
			t.method = http.MethodPatch
		}
		list = append(list, t)
	}
	if fix.Manifest == "" {
		return list
	}
	pod := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(fix.Manifest), &pod.Object); err != nil || pod.GetName() == "" {
		return list
	}
	removed := request{verb: "delete", resource: "pods", namespace: namespace, name: pod.GetName()}
	created := request{verb: "create", resource: "pods", namespace: namespace}
	pod.SetName("")
	pod.SetGenerateName(trialName)
	body, err := json.Marshal(pod)
	if err != nil {
		return list
	}
	return append(list,
		trial{request: removed, method: http.MethodDelete, path: pathOf(removed, "v1"), dependent: len(list) > 0},
		trial{request: created, method: http.MethodPost, path: pathOf(created, "v1"), contentType: "application/json", body: body, dependent: len(list) > 0})
}

func pathOf(r request, version string) string {
	path := "/api/" + version
	if r.group != "" {
		path = "/apis/" + r.group + "/" + version
	}
	if r.namespace != "" {
		path += "/namespaces/" + r.namespace
	}
	path += "/" + r.resource
	if r.name != "" {
		path += "/" + r.name
	}
	return path
}

// try makes one request as a dry run.
func (c *clients) try(ctx context.Context, t trial) (diagnosticsv1alpha1.DryRunVerdict, string) {
	return t.verdict(ctx, c.send(ctx, t).Error())
}

// send makes one request as a dry run.
func (c *clients) send(ctx context.Context, t trial) rest.Result {
	ask := c.core.Verb(t.method).AbsPath(t.path).Param("dryRun", "All").MaxRetries(retries)
	if t.contentType != "" {
		ask.SetHeader("Content-Type", t.contentType).Body(t.body)
	}
	return ask.Do(ctx)
}

// verdict is what the API server's answer to a dry run means.
func (t *trial) verdict(ctx context.Context, err error) (diagnosticsv1alpha1.DryRunVerdict, string) {
	switch {
	case err == nil:
		return diagnosticsv1alpha1.DryRunAccepted, ""
	case apierrors.IsForbidden(err) && forbiddenUser(err) != "":
		return diagnosticsv1alpha1.DryRunForbidden, notPermitted(err)
	case refusal(err) && !t.dependent:
		return diagnosticsv1alpha1.DryRunRefused, denial(err)
	case refusal(err):
		return diagnosticsv1alpha1.DryRunUnknown, "rejected until the steps before it are made: " + denial(err)
	default:
		return diagnosticsv1alpha1.DryRunUnknown, fmt.Sprint(failure(ctx, t.request, err))
	}
}

// refusal is true for an answer of validation or admission.
func refusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || strings.Contains(err.Error(), "denied the request")
}

// denial is what admission or validation says, without the name of the webhook before it.
func denial(err error) string {
	if _, text, found := strings.Cut(err.Error(), "denied the request: "); found {
		return text
	}
	return err.Error()
}
