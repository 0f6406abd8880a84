package scenario

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
)

// Namespaces of the scenario.
const (
	shop      = "shop"
	analytics = "analytics"
)

// colocation is three services that request far more than they use, a Spark-like job on what they leave, a hot node,
// a node without fresh measurements, and two pods that cannot be scheduled for different reasons.
func colocation(nodes int) []Wave {
	waves := []Wave{{Objects: []runtime.Object{namespace(shop), namespace(analytics)}}}
	if hot := HotNode(nodes); hot != "" {
		// First of all, so that no other pod takes the room that makes the node hot.
		waves = append(waves, Wave{
			Objects:    []runtime.Object{deployment(hotCache(hot), 1)},
			AwaitBound: "app=cache", Namespace: shop,
		})
	}
	return append(waves,
		Wave{Objects: []runtime.Object{
			deployment(service("web", extension.QoSLS, 4000, 6), share(nodes, 150)),
			deployment(service("search", extension.QoSLS, 6000, 14), share(nodes, 80)),
			deployment(service("orders", extension.QoSLSR, 8000, 20), share(nodes, 30)),
		}},
		Wave{Objects: append([]runtime.Object{sparkDriver(), sparkExecutors(share(nodes, 100))}, pendingPods(nodes)...)},
	)
}

// share is percent of n, at least 1.
func share(n, percent int) int32 { return int32(max(1, n*percent/100)) }

func service(name string, qos extension.QoSClass, milliCPU, memoryGiB int64) template {
	return template{
		name: name, namespace: shop, qos: qos, priorityClass: "koord-prod",
		requests: plain(milliCPU, memoryGiB),
		// As if it had run since yesterday: measured, learned, its memory grown.
		annotations: map[string]string{ProfileAnnotation: "service", AgeAnnotation: "24h"},
	}
}

// hotCache uses more than it requests, which is most of the one node it runs on. It requests little enough for an idle
// node to take it under load-aware scheduling's threshold.
func hotCache(node string) template {
	t := service("cache", extension.QoSLS, 10000, 24)
	t.annotations = map[string]string{ProfileAnnotation: "hot", CPUPercentAnnotation: "115", AgeAnnotation: "24h"}
	t.nodeSelector = map[string]string{corev1.LabelHostname: node}
	return t
}

func sparkDriver() runtime.Object {
	return pod(template{
		name: "spark-pi-driver", namespace: analytics, qos: extension.QoSBE, priorityClass: "koord-batch",
		requests:    batch(1000, 2),
		annotations: map[string]string{ProfileAnnotation: "batch"},
	})
}

// sparkExecutors run ten minutes each, so that the job's front moves while one looks.
func sparkExecutors(parallelism int32) runtime.Object {
	return job(template{
		name: "spark-pi-exec", namespace: analytics, qos: extension.QoSBE, priorityClass: "koord-batch",
		requests:    batch(3000, 6),
		annotations: map[string]string{ProfileAnnotation: "batch", RunSecondsAnnotation: "600"},
	}, parallelism, parallelism*100)
}

// pendingPods are two pods with no place: one asks for more batch cpu than any node offers, one insists on the hot node.
func pendingPods(nodes int) []runtime.Object {
	pods := []runtime.Object{pod(template{
		name: "monthly-report", namespace: analytics, qos: extension.QoSBE, priorityClass: "koord-batch",
		requests:    batch(40000, 16),
		annotations: map[string]string{ProfileAnnotation: "batch"},
	})}
	if hot := HotNode(nodes); hot != "" {
		warmup := service("cache-warmup", extension.QoSLS, 2500, 4)
		warmup.nodeSelector = map[string]string{corev1.LabelHostname: hot}
		pods = append(pods, pod(warmup))
	}
	return pods
}
