package release

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// What components write beside the chart, to be removed with it.
var (
	leftoverSecrets    = labels.Set{"app.kubernetes.io/managed-by": "koord-manager"}
	leftoverLeases     = []string{"koordinator-manager", "koord-scheduler", "koord-descheduler", "koord-bridge"}
	leftoverConfigMaps = []string{"slo-controller-config-last-good", "koordinator-evictions", "koord-descheduler-arbitration"}
)

// Uninstall removes the release with everything the components wrote into its namespace. Resource definitions, and with
// them the users' objects, stay and are listed as kept. Errors are those of Status and InstallFailed.
func Uninstall(ctx context.Context, clients genericclioptions.RESTClientGetter, options Options) (*Result, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := newSession(clients, options)
	if err != nil {
		return nil, explain(err, "uninstall")
	}
	result, err := s.uninstall(ctx)
	return result, explain(err, fmt.Sprintf("uninstall release %q in namespace %q", options.ReleaseName, options.Namespace))
}

func (s *session) uninstall(ctx context.Context) (*Result, error) {
	last, err := s.last(ctx)
	if err != nil {
		return nil, err
	}
	if last == nil {
		return nil, releaseNotFound(s.options)
	}
	result := &Result{Release: fromHelm(last), DryRun: s.options.DryRun || s.options.ReadOnly}
	objects, err := decodeManifest([]byte(last.Manifest))
	if err != nil {
		return nil, fmt.Errorf("read the manifest of revision %d: %w", last.Version, err)
	}
	for _, object := range objects {
		result.Changes = append(result.Changes, changeOf(object, Deleted, ""))
	}
	if !s.options.DryRun && !s.options.ReadOnly {
		uninstall := action.NewUninstall(s.helm)
		uninstall.Timeout = s.options.Timeout
		uninstall.WaitStrategy = s.waitStrategy()
		uninstall.DeletionPropagation = "background"
		if _, err := uninstall.Run(s.options.ReleaseName); err != nil {
			return nil, err
		}
	}
	leftovers, err := s.removeLeftovers(ctx)
	result.Changes = append(result.Changes, leftovers...)
	if err != nil {
		return result, err
	}
	definitions, err := Definitions()
	for _, definition := range definitions {
		result.Changes = append(result.Changes, changeOf(definition, Kept, "has objects of users"))
	}
	return result, err
}

// removeLeftovers removes what components wrote and says what that was. A dry run has the API server judge it, unless it only reads.
func (s *session) removeLeftovers(ctx context.Context) ([]Change, error) {
	var changes []Change
	var errs []error
	secrets, err := s.client.CoreV1().Secrets(s.options.Namespace).List(ctx, metav1.ListOptions{LabelSelector: leftoverSecrets.String()})
	if err != nil {
		return nil, fmt.Errorf("list the serving certificates: %w", err)
	}
	for _, left := range s.leftovers(secrets.Items) {
		switch err := s.remove(ctx, left); {
		case err == nil:
			changes = append(changes, left.change)
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("delete %s %q: %w", left.change.Kind, left.change.Name, err))
		}
	}
	return changes, errors.Join(errs...)
}

// leftover is an object that a component may have written.
type leftover struct {
	change Change
	get    func(context.Context) error
	delete func(context.Context, metav1.DeleteOptions) error
}

func (s *session) leftovers(secrets []corev1.Secret) []leftover {
	namespace := s.options.Namespace
	var out []leftover
	add := func(apiVersion, kind, name string, get func(context.Context) error, remove func(context.Context, metav1.DeleteOptions) error) {
		change := Change{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, Action: Deleted}
		out = append(out, leftover{change: change, get: get, delete: remove})
	}
	for i := range secrets {
		name, client := secrets[i].Name, s.client.CoreV1().Secrets(namespace)
		add("v1", "Secret", name, func(context.Context) error { return nil }, // it was listed
			func(ctx context.Context, options metav1.DeleteOptions) error {
				return client.Delete(ctx, name, options)
			})
	}
	for _, name := range leftoverLeases {
		client := s.client.CoordinationV1().Leases(namespace)
		add("coordination.k8s.io/v1", "Lease", name,
			func(ctx context.Context) error { _, err := client.Get(ctx, name, metav1.GetOptions{}); return err },
			func(ctx context.Context, options metav1.DeleteOptions) error {
				return client.Delete(ctx, name, options)
			})
	}
	for _, name := range leftoverConfigMaps {
		client := s.client.CoreV1().ConfigMaps(namespace)
		add("v1", "ConfigMap", name,
			func(ctx context.Context) error { _, err := client.Get(ctx, name, metav1.GetOptions{}); return err },
			func(ctx context.Context, options metav1.DeleteOptions) error {
				return client.Delete(ctx, name, options)
			})
	}
	return out
}

func (s *session) remove(ctx context.Context, left leftover) error {
	switch {
	case s.options.ReadOnly:
		return left.get(ctx)
	case s.options.DryRun:
		return left.delete(ctx, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	}
	return left.delete(ctx, metav1.DeleteOptions{})
}
