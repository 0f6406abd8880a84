package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

var kindNone = schema.GroupResource{}

func groupResource(k kind) schema.GroupResource {
	return schema.GroupResource{Group: k.group, Resource: k.resource}
}

// perform does what the API server does with a write.
func (s *store) perform(c *call) answer {
	if c.target.subresource == "binding" {
		return s.bind(c)
	}
	before := s.get(c.target.kind, c.target.key())
	if c.method == http.MethodPost {
		return s.create(c)
	}
	if before == nil {
		return failure(apierrors.NewNotFound(groupResource(c.target.kind), c.target.name))
	}
	switch c.method {
	case http.MethodDelete:
		return s.delete(c, before)
	case http.MethodPut, http.MethodPatch:
		return s.update(c, before)
	}
	return failure(apierrors.NewMethodNotSupported(groupResource(c.target.kind), c.method))
}

func conflict(c *call, why string) answer {
	return failure(apierrors.NewConflict(groupResource(c.target.kind), c.target.name, fmt.Errorf("%s", why)))
}

func decode(encoded []byte) map[string]any {
	content := map[string]any{}
	if err := json.Unmarshal(encoded, &content); err != nil {
		return nil
	}
	return content
}

func (s *store) create(c *call) answer {
	content := decode(c.sent)
	meta, _ := content["metadata"].(map[string]any)
	if meta == nil {
		return failure(apierrors.NewBadRequest("no metadata"))
	}
	to := c.target
	to.name, _ = meta["name"].(string)
	if s.get(to.kind, to.key()) != nil {
		return failure(apierrors.NewAlreadyExists(groupResource(to.kind), to.name))
	}
	meta["creationTimestamp"] = s.now().UTC().Format(time.RFC3339)
	return answer{code: http.StatusCreated, body: s.put(to.kind, to.key(), content).encoded}
}

func (s *store) delete(c *call, before *object) answer {
	options := metav1.DeleteOptions{}
	if len(c.sent) > 0 {
		_ = json.Unmarshal(c.sent, &options) // what cannot be read asks for nothing
	}
	if p := options.Preconditions; p != nil && p.UID != nil && string(*p.UID) != before.text("uid") {
		return conflict(c, "the uid is another one")
	}
	s.remove(before.kind, before.key)
	return answer{code: http.StatusOK, body: before.encoded}
}

// update takes a whole object or a patch of one, as far as it may be changed at this place: the status is a
// place of its own, unless the kind has none.
func (s *store) update(c *call, before *object) answer {
	after, err := c.apply(before)
	if err != nil {
		return failure(apierrors.NewBadRequest(err.Error()))
	}
	meta, _ := after["metadata"].(map[string]any)
	if uid, _ := meta["uid"].(string); uid != "" && uid != before.text("uid") {
		return conflict(c, "the uid is another one")
	}
	if version, _ := meta["resourceVersion"].(string); version != "" && version != before.text("resourceVersion") {
		return conflict(c, "the object has been modified")
	}
	next := copied(before.content)
	switch {
	case before.kind.whole:
		next = after
	case c.target.subresource == "status":
		next["status"] = after["status"]
		if after["status"] == nil {
			delete(next, "status")
		}
	default:
		status := next["status"]
		next = after
		if delete(next, "status"); status != nil {
			next["status"] = status
		}
	}
	return answer{code: http.StatusOK, body: s.put(before.kind, before.key, next).encoded}
}

// apply makes the object that a call wants.
func (c *call) apply(before *object) (map[string]any, error) {
	var encoded []byte
	var err error
	switch {
	case c.method == http.MethodPut:
		encoded = c.sent
	case strings.HasPrefix(c.patch, string(types.MergePatchType)):
		patch := decode(c.sent)
		if patch == nil {
			return nil, fmt.Errorf("the patch is no JSON object")
		}
		return merge(copied(before.content), patch), nil
	case strings.HasPrefix(c.patch, string(types.StrategicMergePatchType)) && before.kind.resource == "pods":
		encoded, err = strategicpatch.StrategicMergePatch(before.encoded, c.sent, corev1.Pod{})
	default:
		return nil, fmt.Errorf("patches of type %s are not served", c.patch)
	}
	if err != nil {
		return nil, err
	}
	content := decode(encoded)
	if content == nil {
		return nil, fmt.Errorf("the object is no JSON object")
	}
	return content, nil
}

// merge applies a merge patch.
func merge(into, patch map[string]any) map[string]any {
	for key, value := range patch {
		nested, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isObject:
			inner, _ := into[key].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
			}
			into[key] = merge(inner, nested)
		default:
			into[key] = value
		}
	}
	return into
}

// bind assigns a pod to a node, once.
func (s *store) bind(c *call) answer {
	binding := corev1.Binding{}
	if err := json.Unmarshal(c.sent, &binding); err != nil {
		return failure(apierrors.NewBadRequest(err.Error()))
	}
	before := s.get(c.target.kind, c.target.key())
	if before == nil {
		return failure(apierrors.NewNotFound(groupResource(c.target.kind), c.target.name))
	}
	pod := into[corev1.Pod](before)
	switch {
	case binding.UID != "" && binding.UID != pod.UID:
		return conflict(c, "the uid is another one")
	case pod.DeletionTimestamp != nil:
		return conflict(c, "the pod is being deleted")
	case pod.Spec.NodeName != "":
		return conflict(c, "the pod is already assigned to node "+pod.Spec.NodeName)
	}
	next := copied(before.content)
	next["spec"].(map[string]any)["nodeName"] = binding.Target.Name
	annotations := map[string]any{}
	for key, value := range binding.Annotations {
		annotations[key] = value
	}
	merge(next, map[string]any{"metadata": map[string]any{"annotations": annotations}})
	s.put(before.kind, before.key, next)
	encoded, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated}) // plain text
	return answer{code: http.StatusCreated, body: encoded}
}
