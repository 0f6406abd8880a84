package quotaprofile

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/big"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Result is what the quota of a profile is to be, and how it came about.
type Result struct {
	// TreeID of the quota's tree, and of the profile's label.
	TreeID string `json:"treeID"`
	// Labels and Annotations of the quota.
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	// Min is Total, Max no limit.
	Min corev1.ResourceList `json:"min"`
	Max corev1.ResourceList `json:"max"`
	// Nodes that are selected, and those of them that are cordoned or not ready.
	Nodes              int `json:"nodes"`
	UnschedulableNodes int `json:"unschedulableNodes"`
	// Allocatable of the selected nodes, Total what the ratio leaves of it, and Unschedulable the part of Total on nodes that
	// take no pods now.
	Allocatable   corev1.ResourceList `json:"allocatable"`
	Total         corev1.ResourceList `json:"total"`
	Unschedulable corev1.ResourceList `json:"unschedulable"`
	// Ratio that was applied.
	Ratio string `json:"ratio"`
}

// unlimited is the max of each resource, in whole units.
const unlimited = math.MaxInt64 / 2000

// Decide adds up the nodes that the profile selects. Nodes that it does not select do not matter. An error says which field
// of the profile is not valid.
func Decide(profile *quotav1alpha1.ElasticQuotaProfile, nodes []*corev1.Node) (Result, error) {
	selector, err := Selector(profile)
	if err != nil {
		return Result{}, err
	}
	ratio, text, err := ratioOf(profile)
	if err != nil {
		return Result{}, err
	}
	names, err := extension.GetQuotaResourceKeys(profile.Annotations)
	if err != nil {
		return Result{}, fmt.Errorf("read the resources of profile %s/%s: %w", profile.Namespace, profile.Name, err)
	}
	r := Result{TreeID: TreeID(profile), Ratio: text, Allocatable: corev1.ResourceList{}, Total: corev1.ResourceList{}, Unschedulable: corev1.ResourceList{},
		Min: corev1.ResourceList{}, Max: corev1.ResourceList{}}
	away := r.sum(names, selector, nodes)
	for _, name := range names {
		r.Total[name] = share(name, r.Allocatable[name], ratio)
		r.Unschedulable[name] = share(name, away[name], ratio)
		r.Min[name] = r.Total[name]
		r.Max[name] = *resource.NewQuantity(unlimited, resource.DecimalSI)
	}
	return r, r.describe(profile)
}

// sum adds up the nodes and returns the part of those that take no pods.
func (r *Result) sum(names []corev1.ResourceName, selector labels.Selector, nodes []*corev1.Node) corev1.ResourceList {
	away := corev1.ResourceList{}
	for _, node := range nodes {
		if !selector.Matches(labels.Set(node.Labels)) {
			continue
		}
		r.Nodes++
		takes := Schedulable(node)
		if !takes {
			r.UnschedulableNodes++
		}
		for _, name := range names {
			add(r.Allocatable, name, node.Status.Allocatable[name])
			if !takes {
				add(away, name, node.Status.Allocatable[name])
			}
		}
	}
	return away
}

func add(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	total := list[name].DeepCopy()
	total.Add(quantity)
	list[name] = total
}

// Schedulable reports whether a node takes pods: it is ready and not cordoned.
func Schedulable(node *corev1.Node) bool {
	if node.Spec.Unschedulable {
		return false
	}
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			return node.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}

// share is the ratio of an amount, exactly, rounded down to thousandths of a CPU and to whole units of everything else.
func share(name corev1.ResourceName, quantity resource.Quantity, ratio *big.Rat) resource.Quantity {
	amount := podrequest.Whole(quantity)
	if name == corev1.ResourceCPU {
		amount = podrequest.Milli(quantity)
	}
	product := new(big.Rat).Mul(new(big.Rat).SetInt64(amount), ratio)
	floor := new(big.Int).Quo(product.Num(), product.Denom())
	whole := int64(math.MaxInt64)
	if floor.IsInt64() {
		whole = floor.Int64()
	}
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(whole, quantity.Format)
	}
	return *resource.NewQuantity(whole, quantity.Format)
}

// ratioOf the profile, from 0 up; 1 when it has none.
func ratioOf(profile *quotav1alpha1.ElasticQuotaProfile) (*big.Rat, string, error) {
	text := "1"
	if given := profile.Spec.ResourceRatio; given != nil && *given != "" {
		text = *given
	}
	value, err := strconv.ParseFloat(text, 64)
	ratio, ok := new(big.Rat), false
	if err == nil && value >= 0 && value <= 1000 && len(text) <= 32 {
		_, ok = ratio.SetString(text)
	}
	if !ok {
		return nil, "", fmt.Errorf("read the resourceRatio of profile %s/%s: %.40q is not a number from 0 to 1000", profile.Namespace, profile.Name, text)
	}
	return ratio, text, nil
}

// Selector of the nodes of a profile.
func Selector(profile *quotav1alpha1.ElasticQuotaProfile) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(profile.Spec.NodeSelector)
	if err != nil {
		return nil, fmt.Errorf("read the nodeSelector of profile %s/%s: %w", profile.Namespace, profile.Name, err)
	}
	return selector, nil
}

// TreeID of a profile: that of its label, or a hash of its name.
func TreeID(profile *quotav1alpha1.ElasticQuotaProfile) string {
	if id := profile.Labels[extension.LabelQuotaTreeID]; id != "" {
		return id
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(profile.Namespace + "/" + profile.Name)) // never fails
	return strconv.FormatUint(hash.Sum64(), 10)
}

// describe fills in labels and annotations.
func (r *Result) describe(profile *quotav1alpha1.ElasticQuotaProfile) error {
	r.Labels = maps.Clone(profile.Spec.QuotaLabels)
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	maps.Copy(r.Labels, map[string]string{
		extension.LabelQuotaTreeID: r.TreeID, extension.LabelQuotaIsRoot: "true", extension.LabelQuotaIsParent: "true",
		extension.LabelQuotaProfile: profile.Name, extension.LabelQuotaParent: extension.RootQuotaName,
	})
	r.Annotations = map[string]string{}
	for key, list := range map[string]corev1.ResourceList{
		extension.AnnotationQuotaTotalResource: r.Total, extension.AnnotationQuotaUnschedulableResource: r.Unschedulable,
	} {
		text, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("encode %s of profile %s/%s: %w", key, profile.Namespace, profile.Name, err)
		}
		r.Annotations[key] = string(text)
	}
	return nil
}
