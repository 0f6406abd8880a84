package release

import (
	"context"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// What components write beside the chart, to be removed with it.
var (
	leftoverSecrets    = labels.Set{"app.kubernetes.io/managed-by": "koord-manager"}
	leftoverLeases     = []string{"koordinator-manager", "koord-scheduler"}
	leftoverConfigMaps = []string{"slo-controller-config-last-good"}
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
	result := &Result{Release: fromHelm(last), DryRun: s.options.DryRun}
	objects, err := decodeManifest([]byte(last.Manifest))
	if err != nil {
		return nil, fmt.Errorf("read the manifest of revision %d: %w", last.Version, err)
	}
	for _, object := range objects {
		result.Changes = append(result.Changes, changeOf(object, Deleted, ""))
	}
	if !s.options.DryRun {
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
	definitions, err := loadDefinitions()
	for _, definition := range definitions {
		result.Changes = append(result.Changes, changeOf(definition, Kept, "holds the users' objects"))
	}
	return result, err
}

func (s *session) removeLeftovers(ctx context.Context) ([]Change, error) {
	var changes []Change
	var errs []error
	var options metav1.DeleteOptions
	if s.options.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	record := func(apiVersion, kind, name string, err error) {
		switch {
		case err == nil:
			changes = append(changes, Change{APIVersion: apiVersion, Kind: kind, Namespace: s.options.Namespace, Name: name, Action: Deleted})
		case !apierrors.IsNotFound(err):
			errs = append(errs, fmt.Errorf("delete %s %q: %w", kind, name, err))
		}
	}
	secrets, err := s.client.CoreV1().Secrets(s.options.Namespace).List(ctx, metav1.ListOptions{LabelSelector: leftoverSecrets.String()})
	if err != nil {
		return nil, fmt.Errorf("list the serving certificates: %w", err)
	}
	for _, secret := range secrets.Items {
		record("v1", "Secret", secret.Name, s.client.CoreV1().Secrets(s.options.Namespace).Delete(ctx, secret.Name, options))
	}
	for _, name := range leftoverLeases {
		record("coordination.k8s.io/v1", "Lease", name, s.client.CoordinationV1().Leases(s.options.Namespace).Delete(ctx, name, options))
	}
	for _, name := range leftoverConfigMaps {
		record("v1", "ConfigMap", name, s.client.CoreV1().ConfigMaps(s.options.Namespace).Delete(ctx, name, options))
	}
	return changes, errors.Join(errs...)
}
