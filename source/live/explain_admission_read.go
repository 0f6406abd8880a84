package live

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"koordinator.sh/koord/api/finding"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

// admissionRead is the snapshot that is being read, and what could not be.
type admissionRead struct {
	*Source
	c    *clients
	in   *objects.AdmissionSnapshot
	gaps gaps
	// denied is why the profiles could not be read.
	denied error
	mu     sync.Mutex
}

// all reads everything at the same time. Where nothing may be read, there is nothing to say.
func (r *admissionRead) all(ctx context.Context, pods []source.AdmissionPod) error {
	group, groupContext := errgroup.WithContext(ctx)
	for _, part := range []func(context.Context) error{r.profiles, r.classes, r.policy, r.webhooks, r.settings} {
		group.Go(func() error { return part(groupContext) })
	}
	var first string
	for _, namespace := range namespacesOf(pods) {
		first = namespace
		group.Go(func() error { return r.namespace(groupContext, namespace) })
	}
	if len(namespacesOf(pods)) > 1 {
		first = ""
	}
	group.Go(func() error { return r.quotas(groupContext, first) })
	if err := group.Wait(); err != nil {
		return err
	}
	if unread := r.in.Unread; unread.Profiles && unread.PriorityClasses && unread.Quotas && len(r.in.Namespaces) == 0 {
		return r.denied
	}
	return nil
}

// namespacesOf are the namespaces of pods, each once.
func namespacesOf(pods []source.AdmissionPod) []string {
	var out []string
	seen := map[string]bool{}
	for i := range pods {
		if namespace := pods[i].Pod.Namespace; !seen[namespace] {
			seen[namespace], out = true, append(out, namespace)
		}
	}
	return out
}

func (r *admissionRead) profiles(ctx context.Context) error {
	found, err := r.c.profiles(ctx)
	if hasCode(err, finding.NotInstalled) {
		r.gaps.add(text(err, "no colocation profile applies"))
	}
	r.in.Profiles, r.denied = found, err
	r.in.Unread.Profiles, err = r.missing(err, "which profiles apply, and what they change, is unknown")
	return err
}

func (r *admissionRead) classes(ctx context.Context) error {
	ask := request{verb: "list", group: schedulingv1.GroupName, resource: "priorityclasses"}
	found := &schedulingv1.PriorityClassList{}
	err := failure(ctx, ask, r.c.core.Get().AbsPath("/apis", ask.group, "v1", ask.resource).Param("resourceVersion", fromCache).MaxRetries(retries).Do(ctx).Into(found))
	r.in.PriorityClasses = found.Items
	r.in.Unread.PriorityClasses, err = r.missing(err, "the priorities of pods are unknown")
	return err
}

// policy reads whether the API server applies the profiles itself.
func (r *admissionRead) policy(ctx context.Context) error {
	for _, resource := range []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		ask := request{verb: "get", group: admissionregistrationv1.GroupName, resource: resource, name: policy.Name}
		_, err := rawOf(r.c.core.Get().AbsPath("/apis", ask.group, "v1", resource, policy.Name).SetHeader("Accept", "application/json").MaxRetries(retries).Do(ctx))
		err = failure(ctx, ask, err)
		if hasCode(err, finding.NotFound) {
			r.in.Unserved = fmt.Sprintf("the API server has no %s %s", resource, policy.Name)
			return nil
		}
		unread, err := r.missing(err, "whether the API server or koord-manager applies the profiles is unknown")
		if unread || err != nil {
			r.in.Unread.Policy = unread
			return err
		}
	}
	return nil
}

// webhooks reads whether those of koord-manager are registered.
func (r *admissionRead) webhooks(ctx context.Context) error {
	ask := request{verb: "get", group: admissionregistrationv1.GroupName, resource: "mutatingwebhookconfigurations", name: objects.AdmissionWebhooks}
	found := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := failure(ctx, ask, r.c.core.Get().AbsPath("/apis", ask.group, "v1", ask.resource, ask.name).MaxRetries(retries).Do(ctx).Into(found))
	if hasCode(err, finding.NotFound) || err == nil && len(found.Webhooks) == 0 {
		r.in.Unregistered = fmt.Sprintf("no webhook is registered in mutatingwebhookconfiguration %s: koord-manager neither changes nor rejects pods now", ask.name)
		return nil
	}
	_, err = r.missing(err, "whether the webhooks of koord-manager are registered is unknown")
	return err
}

// settings reads the flags of koord-manager.
func (r *admissionRead) settings(ctx context.Context) error {
	const name = "koord-manager"
	found := &appsv1.Deployment{}
	err := r.c.apps(ctx, "deployments", r.options.SystemNamespace, name, found)
	var arguments []string
	for _, container := range found.Spec.Template.Spec.Containers {
		arguments = append(arguments, container.Command...)
		arguments = append(arguments, container.Args...)
	}
	r.in.Settings = objects.ReadAdmissionSettings(r.options.SystemNamespace, arguments)
	const assumed = "the default flags of koord-manager are assumed"
	if hasCode(err, finding.NotFound) {
		r.gaps.add(text(err, assumed))
	}
	if _, err = r.missing(err, assumed); err != nil || !r.in.Settings.QuotaTrees {
		return err
	}
	return r.quotaProfiles(ctx)
}

func (r *admissionRead) quotaProfiles(ctx context.Context) error {
	client, err := r.c.group(ownGroup(quotav1alpha1.GroupVersion))
	if err != nil {
		return err
	}
	ask := request{verb: "list", group: quotav1alpha1.GroupVersion.Group, resource: "elasticquotaprofiles"}
	r.in.QuotaProfiles, err = list(ctx, client, ask, selection{}, splitJSON, func(raw []byte, into *quotav1alpha1.ElasticQuotaProfile) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
	r.in.Unread.QuotaProfiles, err = r.missing(err, "which nodes quota trees restrict pods to is unknown")
	return err
}

func (r *admissionRead) namespace(ctx context.Context, name string) error {
	found := &corev1.Namespace{}
	err := r.c.get(ctx, "namespaces", "", name, found)
	if hasCode(err, finding.NotFound) {
		found = nil
	}
	unread, err := r.missing(err, "profiles that select namespaces by labels cannot be matched")
	if unread || err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.in.Namespaces[name] = found
	return nil
}

// quotas reads the ElasticQuotas, and where there are any what a pod may still request of them.
func (r *admissionRead) quotas(ctx context.Context, namespace string) error {
	found, denied, err := r.c.allQuotas(ctx, namespace, "quotas in other namespaces are not found")
	for _, line := range denied {
		r.gaps.add(line)
	}
	r.in.Quotas = found
	unread, err := r.missing(err, "the quota of the pod is unknown")
	r.in.Unread.Quotas = unread || len(denied) > 0
	if err != nil || unread || len(found) == 0 {
		return err
	}
	in := quotaview.Input{Objects: found, Unseen: len(denied) > 0}
	if err := r.quotaUse(ctx, &in); err != nil {
		return err
	}
	r.in.Placer = quotaview.NewPlacer(in)
	return nil
}

// quotaUse reads what the quotas are divided by, and the profiles of koord-scheduler.
func (r *admissionRead) quotaUse(ctx context.Context, in *quotaview.Input) error {
	var unseen [2]bool
	group, groupContext := errgroup.WithContext(ctx)
	const consequence = "whether the pod fits its quota is unknown"
	group.Go(func() error {
		found, err := r.c.pods(groupContext, selection{}, podListDrop)
		in.Pods = found
		unseen[0], err = r.missing(err, consequence)
		return err
	})
	group.Go(func() error {
		found, err := r.c.nodes(groupContext, selection{})
		in.Nodes = found
		unseen[1], err = r.missing(err, consequence)
		return err
	})
	group.Go(func() error {
		settings, err := r.schedulerSettings(groupContext, r.c)
		in.Args, r.in.Schedulers = settings.Quotas, settings.Profiles
		if len(r.in.Schedulers) == 0 {
			r.in.Schedulers = []string{objects.DefaultProfile}
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
		return r.gaps.note(err, unknown.SchedulerConfiguration, "the default arguments of plugin ElasticQuota are assumed")
	})
	err := group.Wait()
	in.Unseen = in.Unseen || unseen[0] || unseen[1]
	return err
}
