package explain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/scheduler/state"
)

// addedLike begins the names of nodes that are added like another one.
const addedLike = "added-"

var (
	reducedTo  = regexp.MustCompile(`^reduce the pod's (\S+) request from \S+ to (\S+) \(`)
	raisedTo   = regexp.MustCompile(`^raise the pod's cpu request from \S+ to (\S+),`)
	requested  = regexp.MustCompile(`([0-9][0-9A-Za-z.]*)%? (\S+)(?: devices?)? instead of (\S+)`)
	wholeCPU   = regexp.MustCompile(`^reduce the cpu request of container \S+ from \S+ to (\S+)$`)
	toleration = regexp.MustCompile(`([^ =:]+)=([^ :]+):(NoSchedule|NoExecute)`)
	selector   = regexp.MustCompile(`^remove node selector ([^=]+)=`)
	// reservationEvicted is one that makes room, and not one that a victim uses.
	reservationEvicted = regexp.MustCompile(`(?:evict|move|,) reservation ([^ ,]+)(?: \(|, which holds)`)
	podNamed           = regexp.MustCompile(`pod default/([^ ,]+)`)
	newNodeLike        = regexp.MustCompile(`^add a node like ([^ ,]+),`)
	word               = regexp.MustCompile(`'[^']*'|[^ ']+`)
)

// carryOut does by hand what the fix says: its commands, and what it describes of the pod.
func (c *cluster) carryOut(t *rapid.T, fix *diagnosticsv1alpha1.Fix) {
	kinds, texts := strings.Split(fix.Kind, "+"), strings.Split(strings.ReplaceAll(fix.Description, "in the template of the reservation, ", ""), "; and ")
	if len(kinds) != len(texts) {
		t.Fatalf("%d kinds and %d descriptions: %+v", len(kinds), len(texts), fix)
	}
	asked, store := c.asked()
	if other, differs := strings.CutPrefix(fix.PodName, "default/"); differs {
		asked, store = c.pods[types.UID(other)].DeepCopy(), c.updatePod
		texts[0] = strings.TrimPrefix(texts[0], "for pod "+fix.PodName+": ")
	}
	for i, kind := range kinds {
		switch kind {
		case "reduceRequest":
			reduce(t, asked, texts[i])
		case "raiseRequest":
			setRequest(t, asked, "cpu", raisedTo.FindStringSubmatch(texts[i])[1])
		case "addToleration":
			for _, parts := range toleration.FindAllStringSubmatch(texts[i], -1) {
				asked.Spec.Tolerations = append(asked.Spec.Tolerations, corev1.Toleration{Key: parts[1], Operator: corev1.TolerationOpEqual, Value: parts[2], Effect: corev1.TaintEffect(parts[3])})
			}
		case "removeNodeSelector":
			delete(asked.Spec.NodeSelector, selector.FindStringSubmatch(texts[i])[1])
		case "refreshNodeMetric":
			defer c.bringBack(texts[i]) // what an agent reports then is of the pods that are left
		case "addNode":
			c.addLike(newNodeLike.FindStringSubmatch(texts[i])[1], texts[i])
		case "relaxBindPolicy", "relaxNUMAPolicy":
			relax(t, asked, fix, kind)
		case "unbindCPUs":
			if strings.Contains(fix.Command, "kubectl edit reservation") { // a pod is recreated with the label
				asked.Labels[extension.LabelPodQoS] = string(extension.QoSLS)
			}
		case "evictPod", "evictPods":
			for _, parts := range podNamed.FindAllStringSubmatch(texts[i], -1) {
				c.evict(parts[1])
			}
			for _, parts := range reservationEvicted.FindAllStringSubmatch(texts[i], -1) {
				c.endReservation(parts[1])
			}
		default:
			if fix.Command == "" && fix.Manifest == "" {
				t.Fatalf("no way to %s: %q", kind, texts[i])
			}
		}
	}
	if fix.Manifest != "" {
		followManifest(t, asked, fix)
	}
	store(asked)
	for command := range strings.SplitSeq(fix.Command, " && ") {
		if command != "" {
			c.kubectl(t, command)
		}
	}
}

// relax edits what the template of a reservation says of CPUs; a pod has a command for it.
func relax(t *rapid.T, asked *corev1.Pod, fix *diagnosticsv1alpha1.Fix, kind string) {
	switch {
	case !strings.Contains(fix.Command, "kubectl edit reservation"):
		if !strings.Contains(fix.Command, "kubectl annotate pod") && fix.Manifest == "" {
			t.Fatalf("no way to %s: %+v", kind, fix)
		}
	case kind == "relaxNUMAPolicy":
		delete(asked.Annotations, extension.AnnotationNUMATopologySpec)
	default:
		spec, err := extension.GetResourceSpec(asked.Annotations)
		if err != nil || spec.RequiredCPUBindPolicy == "" {
			t.Fatalf("%s of a template with %+v, %v", kind, spec, err)
		}
		asked.Annotations[extension.AnnotationResourceSpec] = `{"preferredCPUBindPolicy":"` + string(spec.RequiredCPUBindPolicy) + `"}`
	}
}

// followManifest recreates the pod with the labels and annotations of the manifest, whose spec is what the text says.
func followManifest(t *rapid.T, asked *corev1.Pod, fix *diagnosticsv1alpha1.Fix) {
	made := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(fix.Manifest), made); err != nil {
		t.Fatal(err)
	}
	asked.Labels, asked.Annotations = made.Labels, made.Annotations
	if asked.Annotations == nil {
		asked.Annotations = map[string]string{}
	}
	if !apiequality.Semantic.DeepEqual(asked.Spec, made.Spec) {
		t.Fatalf("%q makes %+v, and the manifest is %s", fix.Description, asked.Spec, fix.Manifest)
	}
}

// addLike adds a node with what another has, and nothing that is wrong with that one. Its agent reports what that of the other
// does; the Device is known from the start.
func (c *cluster) addLike(name, text string) {
	node := c.nodes[name].DeepCopy()
	node.Name, node.UID = addedLike+name, types.UID(addedLike+name)
	uncordon(node)
	if _, without, differs := strings.Cut(strings.TrimSuffix(text, ": the pod fits on it without other pods"), ", but without "); differs {
		for label := range strings.SplitSeq(without, " and ") {
			key, _, _ := strings.Cut(label, "=")
			delete(node.Labels, key)
		}
	}
	c.addNode(node)
	if c.shared.topologies.Report(name) != nil {
		c.addReport(newReport(node.Name))
	}
	if c.state.metrics[name] != nil {
		c.state.metrics[node.Name] = &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: now}, NodeMetric: &slov1alpha1.NodeMetricInfo{},
		}}
	}
}

// bringBack has the agent report again that a text names.
func (c *cluster) bringBack(text string) {
	for name, metric := range c.state.metrics {
		if !strings.Contains(text, "koordlet on node "+name+":") {
			continue
		}
		refreshed := metric.DeepCopy()
		refreshed.Status.UpdateTime = &metav1.Time{Time: now}
		if strings.Contains(text, "the requests of its pods") {
			refreshed.Status.NodeMetric = c.usageRequestedOn(name)
		}
		c.state.metrics[name] = refreshed
	}
}

// usageRequestedOn is what a node reports whose pods use what they request.
func (c *cluster) usageRequestedOn(node string) *slov1alpha1.NodeMetricInfo {
	total := corev1.ResourceList{}
	for _, pod := range c.pods {
		if pod.Spec.NodeName != node {
			continue
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			sum := total[name]
			sum.Add(pod.Spec.Containers[0].Resources.Requests[name])
			total[name] = sum
		}
	}
	return &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: total}}
}

// asked returns a copy of the pod that the question is about, or of the one in the Reservation's template, and what stores it.
func (c *cluster) asked() (*corev1.Pod, func(*corev1.Pod)) {
	object, reserves := c.shared.reserved.Get("asked")
	if !reserves {
		return c.pods["asked"].DeepCopy(), c.updatePod
	}
	template := object.Spec.Template.DeepCopy()
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}, func(pod *corev1.Pod) {
		edited := object.DeepCopy()
		edited.Spec.Template = &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
		c.addReservation(edited)
	}
}

// kubectl does what a command would.
func (c *cluster) kubectl(t *rapid.T, command string) {
	words := word.FindAllString(command, -1)
	var plain, options []string
	namespace := ""
	for i := 1; i < len(words); i++ {
		switch {
		case words[i] == "-n":
			namespace = words[i+1]
			i++
		case words[i] == "--type" || words[i] == "-p":
			options = append(options, strings.Trim(words[i+1], "'"))
			i++
		case strings.HasPrefix(words[i], "--"):
		default:
			plain = append(plain, words[i])
		}
	}
	if kind := plain[1]; (kind == "pod" || kind == "elasticquota") && namespace != "default" {
		t.Fatalf("namespace %q in %q", namespace, command)
	}
	switch plain[0] + " " + plain[1] {
	case "edit reservation": // as the description says
	case "annotate pod", "label pod", "annotate node", "label node":
		c.mark(t, plain, command)
	case "patch pod": // as the description says
	case "delete pod":
		c.evict(plain[2])
	case "delete reservation":
		c.endReservation(plain[2])
	case "patch elasticquota":
		c.patchQuota(t, plain[2], options[1])
	case "patch podgroups.scheduling.sigs.k8s.io":
		c.editGroup(t, plain[2], func(group *schedulingsigsv1alpha1.PodGroup) error { return json.Unmarshal([]byte(options[1]), group) })
	case "annotate podgroups.scheduling.sigs.k8s.io":
		c.editGroup(t, plain[2], func(group *schedulingsigsv1alpha1.PodGroup) error { return setMarks(group.Annotations, plain[3:]) })
	default:
		if plain[0] != "uncordon" {
			t.Fatalf("unknown command %q", command)
		}
		node := c.nodes[plain[1]].DeepCopy()
		uncordon(node)
		c.addNode(node)
	}
}

// mark sets or removes labels or annotations: "annotate pod NAME KEY=", "'VALUE'" or "label pod NAME KEY-".
func (c *cluster) mark(t *rapid.T, words []string, command string) {
	pod, node := &corev1.Pod{}, &corev1.Node{}
	meta := &pod.ObjectMeta
	if words[1] == "pod" {
		c.pods[types.UID(words[2])].DeepCopyInto(pod)
	} else {
		c.nodes[words[2]].DeepCopyInto(node)
		meta = &node.ObjectMeta
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	on := meta.Labels
	if words[0] == "annotate" {
		on = meta.Annotations
	}
	if err := setMarks(on, words[3:]); err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	if words[1] == "pod" {
		c.updatePod(pod)
	} else {
		c.addNode(node)
	}
}

// setMarks reads "KEY=", "'VALUE'", "KEY=VALUE" and "KEY-".
func setMarks(on map[string]string, words []string) error {
	for i := 0; i < len(words); i++ {
		key, value, set := strings.Cut(words[i], "=")
		switch {
		case !set && strings.HasSuffix(key, "-"):
			delete(on, strings.TrimSuffix(key, "-"))
		case set && value == "":
			i++
			value = strings.Trim(words[i], "'")
			if !json.Valid([]byte(value)) {
				return fmt.Errorf("no JSON in %q", value)
			}
			on[key] = value
		case set:
			on[key] = value
		default:
			return fmt.Errorf("word %q", words[i])
		}
	}
	return nil
}

// editGroup replaces a PodGroup.
func (c *cluster) editGroup(t *rapid.T, name string, edit func(*schedulingsigsv1alpha1.PodGroup) error) {
	for i, object := range c.shared.gangObjects {
		group, ok := object.(*schedulingsigsv1alpha1.PodGroup)
		if !ok || group.Name != name {
			continue
		}
		edited := group.DeepCopy()
		if err := edit(edited); err != nil {
			t.Fatalf("PodGroup %q: %v", name, err)
		}
		c.shared.gangObjects[i] = edited
		c.shared.gangEvents.OnUpdate(group, edited)
		return
	}
	t.Fatalf("there is no PodGroup %q", name)
}

func (c *cluster) patchQuota(t *rapid.T, name, patch string) {
	object, _, err := c.shared.quotas.Informer().GetIndexer().GetByKey("default/" + name)
	if err != nil || object == nil {
		t.Fatalf("quota %q: %v", name, err)
	}
	edited := object.(*schedulingsigsv1alpha1.ElasticQuota).DeepCopy()
	if err := json.Unmarshal([]byte(patch), edited); err != nil {
		t.Fatalf("patch %q: %v", patch, err)
	}
	c.addQuota(edited)
}

func (c *cluster) updatePod(pod *corev1.Pod) {
	c.must(c.informers.Core().V1().Pods().Informer().GetIndexer().Update(pod))
	before := c.pods[pod.UID]
	c.pods[pod.UID] = pod
	c.shared.podChanged(before, pod)
}

func reduce(t *rapid.T, pod *corev1.Pod, description string) {
	if parts := reducedTo.FindStringSubmatch(description); parts != nil {
		setRequest(t, pod, parts[1], parts[2])
		return
	}
	if parts := wholeCPU.FindStringSubmatch(description); parts != nil {
		setRequest(t, pod, "cpu", parts[1])
		return
	}
	for _, parts := range requested.FindAllStringSubmatch(description, -1) {
		if strings.Contains(parts[2], "/") {
			setRequest(t, pod, parts[2], parts[1])
			continue
		}
		after, before := resource.MustParse(parts[1]), resource.MustParse(parts[3])
		for name, quantity := range pod.Spec.Containers[0].Resources.Requests {
			if strings.Contains(string(name), strings.ToLower(strings.TrimSuffix(parts[2], "s"))) {
				pod.Spec.Containers[0].Resources.Requests[name] = *resource.NewQuantity(quantity.Value()/before.Value()*after.Value(), quantity.Format)
			}
		}
	}
}

func setRequest(t *rapid.T, pod *corev1.Pod, name, amount string) {
	quantity, err := resource.ParseQuantity(amount)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(name, "batch-") {
		name = extension.ResourceDomainPrefix + name
	}
	if corev1.ResourceName(name) == extension.BatchCPU {
		quantity = *resource.NewQuantity(quantity.MilliValue(), resource.DecimalSI)
	}
	pod.Spec.Containers[0].Resources.Requests[corev1.ResourceName(name)] = quantity
}

// evict removes a pod and, as the next NodeMetric would, its usage. A pod that is gone already stays so: an eviction may
// have both a description and a command.
func (c *cluster) evict(name string) {
	pod := c.pods[types.UID(name)]
	if pod == nil {
		return
	}
	c.must(c.scheduler.Cache.RemovePod(klog.Background(), pod))
	c.must(c.informers.Core().V1().Pods().Informer().GetIndexer().Delete(pod))
	c.shared.podGone(pod)
	delete(c.pods, pod.UID)
	w, err := newClusterView(c.engine.snapshot, c.parts).withoutPod(pod, pod.Spec.NodeName)
	c.must(err)
	for _, view := range w.views {
		if load, ok := view.(state.Reader); ok {
			c.state.assigned[pod.Spec.NodeName] = load.Assigned(pod.Spec.NodeName)
		}
	}
	if metric := w.NodeMetric(pod.Spec.NodeName); metric != nil {
		c.state.metrics[pod.Spec.NodeName] = metric
	}
}

func TestTheHandThatCarriesOutFixesReadsCommands(t *testing.T) {
	got := word.FindAllString(`kubectl annotate pod -n default asked --overwrite a/b='{"x": "y z"}'`, -1)
	if want := 9; len(got) != want || got[8] != `'{"x": "y z"}'` {
		t.Errorf("words %q", got)
	}
}
