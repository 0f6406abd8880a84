package check

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/deploy/release"
	"koordinator.sh/koord/kubectl-plugin/install"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/live"
)

// parallelism is how many parts are read at the same time.
const parallelism = 8

// Cluster is where facts are read.
type Cluster struct {
	// Getter connects to the API server.
	Getter genericclioptions.RESTClientGetter
	// Source answers questions that the workbench has answers for.
	Source source.Source
	// Clock that ages are counted by.
	Clock clock.PassiveClock
	// Version of this program.
	Version string
	// Release whose namespace is checked.
	Release release.Options

	client kubernetes.Interface
}

// Gather reads the facts that the selected checks look at. What may not be read, or fails, is kept as the reason why a fact is unknown; an
// error means that the API server does not answer.
func (c *Cluster) Gather(ctx context.Context, selection Selection) (*Facts, error) {
	var err error
	if c.client, _, err = install.Clients(c.Getter); err != nil {
		return nil, err
	}
	f := &Facts{Now: c.Clock.Now(), Client: c.Version, Namespace: c.Release.Namespace, Secrets: map[string]*Fact[*corev1.Secret]{}}
	if f.Installation, err = install.Collect(ctx, c.Getter, c.Clock, c.Release); err != nil {
		return nil, err
	}
	f.share(c.Release)
	if f.Wanted, err = release.Definitions(); err != nil {
		return nil, err
	}
	group, groupContext := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	for _, r := range readings {
		if r.wanted(selection) {
			group.Go(func() error { return r.read(groupContext, c, f) })
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return f, c.ask(ctx, f, selection)
}

// share takes over what the status was concluded from.
func (f *Facts) share(options release.Options) {
	read, unread := f.Installation.Objects, f.Installation.Unread
	f.Nodes = Fact[[]corev1.Node]{Value: read.Nodes, Unread: unread[install.PartNodes]}
	f.Deployments = Fact[[]appsv1.Deployment]{Value: read.Deployments, Unread: unread[install.PartDeployments]}
	f.DaemonSets = Fact[[]appsv1.DaemonSet]{Value: read.DaemonSets, Unread: unread[install.PartDaemonSets]}
	f.APIService = Fact[*unstructured.Unstructured]{Value: read.APIService, Unread: unread[install.PartAPI]}
	f.Definitions = Fact[[]unstructured.Unstructured]{Value: read.Definitions, Unread: unread[install.PartDefinitions]}
	f.Kept = map[string]string{}
	for i := range read.Definitions {
		if owner := release.ForeignOwner(&read.Definitions[i], options); owner != "" {
			f.Kept[read.Definitions[i].GetName()] = owner
		}
	}
}

// reading reads one fact for the checks of some categories.
type reading struct {
	categories []Category
	stage      Stage
	read       func(context.Context, *Cluster, *Facts) error
}

func (r *reading) wanted(selection Selection) bool {
	return r.stage.applies(selection.Before) && slices.ContainsFunc(r.categories, func(c Category) bool { return slices.Contains(selection.Categories, c) })
}

// readings are all, each independent of the others.
var readings = []reading{
	{[]Category{Scheduler, Manager, Agent, Webhook}, Installed, readPods},
	{[]Category{Webhook}, Installed, readServices},
	{[]Category{Webhook}, Installed, readEndpoints},
	{[]Category{Webhook}, Installed, readNamespace},
	{[]Category{Webhook}, Installed, readWebhooks},
	{[]Category{Webhook, Kubernetes, Scheduler, Manager}, Installed, readSecrets},
	{[]Category{Kubernetes}, Always, readElsewhere},
	{[]Category{Kubernetes}, BeforeInstall, readRights},
	{[]Category{Agent}, Installed, readOverviews},
	{[]Category{Config}, Installed, readConfig},
}

// fact keeps what was read, or why it could not be. What does not exist stays as it is. The error is that of an API server that does not
// answer at all.
func fact[T any](ctx context.Context, into *Fact[T], what string, read func(context.Context) (T, error)) error {
	value, err := read(ctx)
	if err == nil {
		into.Value = value
		return nil
	}
	err = live.Failure(ctx, what, err)
	coded, has := finding.From(err)
	switch {
	case ctx.Err() != nil:
		return err
	case apierrors.IsNotFound(err):
		return nil
	case has && (coded.Code == finding.ClusterUnreachable || coded.Code == finding.CertificateRejected):
		return err
	case has:
		into.Unread = []string{fmt.Sprintf("%s (%s)", err, coded.Code)}
	default:
		into.Unread = []string{fmt.Sprintf("%s: %s", what, err)}
	}
	return nil
}
