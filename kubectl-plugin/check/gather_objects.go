package check

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/certificate"
)

// upstreamSecret is where upstream's koord-manager keeps the certificate of its webhooks.
const upstreamSecret = "koordinator-webhook-certs"

// fromCache lets the API server answer from memory.
var fromCache = metav1.ListOptions{ResourceVersion: "0"}

func readPods(ctx context.Context, c *Cluster, f *Facts) error {
	return fact(ctx, &f.Pods, "list pods", func(ctx context.Context) ([]corev1.Pod, error) {
		list, err := c.client.CoreV1().Pods(f.Namespace).List(ctx, fromCache)
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
}

func readServices(ctx context.Context, c *Cluster, f *Facts) error {
	return fact(ctx, &f.Services, "list services", func(ctx context.Context) ([]corev1.Service, error) {
		list, err := c.client.CoreV1().Services(f.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
}

func readEndpoints(ctx context.Context, c *Cluster, f *Facts) error {
	return fact(ctx, &f.Endpoints, "list endpointslices", func(ctx context.Context) ([]discoveryv1.EndpointSlice, error) {
		list, err := c.client.DiscoveryV1().EndpointSlices(f.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
}

func readNamespace(ctx context.Context, c *Cluster, f *Facts) error {
	return fact(ctx, &f.NamespaceLabels, "get namespace "+f.Namespace, func(ctx context.Context) (map[string]string, error) {
		namespace, err := c.client.CoreV1().Namespaces().Get(ctx, f.Namespace, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return namespace.Labels, nil
	})
}

// readSecrets gets the Secrets one by one: a user who may get these need not be permitted to list all.
func readSecrets(ctx context.Context, c *Cluster, f *Facts) error {
	for _, name := range []string{certificate.ManagerSecret, certificate.SchedulerSecret, certificate.DeschedulerSecret, certificate.BridgeSecret, upstreamSecret} {
		of := &Fact[*corev1.Secret]{}
		err := fact(ctx, of, "get secret "+name, func(ctx context.Context) (*corev1.Secret, error) {
			return c.client.CoreV1().Secrets(f.Namespace).Get(ctx, name, metav1.GetOptions{})
		})
		if err != nil {
			return err
		}
		f.Secrets[name] = of
	}
	return nil
}

// readElsewhere looks for Deployments of koord-manager in other namespaces.
func readElsewhere(ctx context.Context, c *Cluster, f *Facts) error {
	return fact(ctx, &f.Elsewhere, "list deployments of all namespaces", func(ctx context.Context) ([]string, error) {
		list, err := c.client.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + managerName})
		if err != nil {
			return nil, err
		}
		var namespaces []string
		for i := range list.Items {
			if d := &list.Items[i]; d.Name == managerName && d.Namespace != f.Namespace {
				namespaces = append(namespaces, d.Namespace)
			}
		}
		slices.Sort(namespaces)
		return namespaces, nil
	})
}
