package install

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/deploy/release"
)

// plan is a dry run of which no API server is asked: the manifests, and what would happen to their objects.
type plan struct {
	manifests string
	result    *release.Result
}

// planInstall says what a cluster that has nothing of the system would get.
func planInstall(ctx context.Context, options release.Options) (*plan, error) {
	manifests, err := release.Render(ctx, options)
	if err != nil {
		return nil, err
	}
	objects, err := release.Objects(manifests)
	if err != nil {
		return nil, fmt.Errorf("read the manifests: %w", err)
	}
	result := &release.Result{DryRun: true, Release: release.Release{Name: options.ReleaseName, Namespace: options.Namespace}}
	for _, object := range objects {
		result.Changes = append(result.Changes, release.Creation(object))
	}
	return &plan{manifests: manifests, result: result}, nil
}

// report prints the plan as kubectl does with --dry-run=client: a line an object, or the objects themselves.
func (m *mutation) reportPlan(p *plan, happened string) error {
	switch m.output.format {
	case "yaml":
		_, err := io.WriteString(m.Out, strings.TrimPrefix(p.manifests, "---\n"))
		return err
	case "json":
		return writeList(m.Out, p.manifests)
	}
	return m.report(p.result, happened)
}

// writeList prints the objects of a stream of YAML as one list, which is how kubectl prints several in JSON.
func writeList(w io.Writer, manifests string) error {
	objects, err := release.Objects(manifests)
	if err != nil {
		return fmt.Errorf("read the manifests: %w", err)
	}
	list := struct {
		metav1.TypeMeta `json:",inline"`
		Items           []*unstructured.Unstructured `json:"items"`
	}{metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, objects}
	data, err := json.MarshalIndent(list, "", "    ")
	if err != nil {
		return fmt.Errorf("encode the manifests: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}
