package live

import (
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownFields are the numbers of fields in which even pods of the same controller differ, as a set of bits.
type ownFields uint64

func own(numbers ...protowire.Number) (fields ownFields) {
	for _, number := range numbers {
		fields |= 1 << number
	}
	return fields
}

func (f ownFields) has(number protowire.Number) bool { return number < 64 && f&(1<<number) != 0 }

// Field numbers are those of strip.go.
var (
	// name, uid, version, and when it was created and deleted.
	ownMetadata = own(1, 5, 6, 8, 9)
	// node and host name.
	ownSpec = own(10, 16)
	// conditions, message, reason, addresses and start time.
	ownStatus = own(2, 3, 4, 5, 6, 7, 12, 16)
)

// podDecoder decodes the pods of one list without what drop leaves out. Most pods have nearly all of their bytes in common with others, which
// are those of their controller: they are decoded once, and the pods share what is made of them. So nothing that maps, slices and pointers
// of a pod lead to may be modified.
type podDecoder struct {
	drop     dropped
	metadata sharedPart[metav1.ObjectMeta, *metav1.ObjectMeta]
	spec     sharedPart[corev1.PodSpec, *corev1.PodSpec]
	status   sharedPart[corev1.PodStatus, *corev1.PodStatus]
}

// decode may be called concurrently.
func (d *podDecoder) decode(raw []byte, into *corev1.Pod) error {
	var parts [4][]byte
	for rest := raw; len(rest) > 0; {
		number, kind, tag := protowire.ConsumeTag(rest)
		if tag < 0 || kind != protowire.BytesType || number >= protowire.Number(len(parts)) || parts[number] != nil {
			return unmarshal(raw, d.drop, into) // which is right for any pod, and says what is wrong with what is none
		}
		value, length := protowire.ConsumeBytes(rest[tag:])
		if length < 0 {
			return unmarshal(raw, d.drop, into)
		}
		parts[number], rest = value, rest[tag+length:]
	}
	if err := d.metadata.decode(parts[1], d.drop, 1, ownMetadata, &into.ObjectMeta); err != nil {
		return err
	}
	if err := d.spec.decode(parts[2], d.drop, 2, ownSpec, &into.Spec); err != nil {
		return err
	}
	of := ownStatus
	if len(d.drop[3][2]) > 0 {
		of &^= own(2) // without times, the conditions of pods are alike
	}
	return d.status.decode(parts[3], d.drop, 3, of, &into.Status)
}

// message is what generated code decodes. Fields that it does not find it leaves as they are.
type message[T any] interface {
	*T
	Unmarshal(data []byte) error
}

// knownParts bounds what is kept to be shared. Where all differ, they are forgotten together.
const knownParts = 4096

// sharedPart decodes one field of many messages.
type sharedPart[T any, M message[T]] struct {
	mu sync.RWMutex
	// known by their bytes.
	known map[string]*T
}

func (s *sharedPart[T, M]) decode(value []byte, drop dropped, field protowire.Number, of ownFields, into M) error {
	inner, named := drop[field]
	if named && len(inner) == 0 || len(value) == 0 {
		return nil
	}
	room := buffer(2 * len(value))
	defer recycle(room)
	single, common, err := separate(room[:0:len(value)], room[len(value):len(value)], value, inner, of)
	if err != nil {
		return err
	}
	shared, err := s.shared(common)
	if err != nil {
		return err
	}
	*into = *shared
	return into.Unmarshal(single)
}

// shared decodes bytes unless they are known.
func (s *sharedPart[T, M]) shared(common []byte) (*T, error) {
	s.mu.RLock()
	found := s.known[string(common)]
	s.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	found = new(T)
	if err := M(found).Unmarshal(common); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || len(s.known) == knownParts {
		s.known = map[string]*T{}
	}
	s.known[string(common)] = found
	return found, nil
}

// separate appends to single the fields of a message that are in of, and to common the others, both without the dropped ones.
func separate(single, common, message []byte, drop dropped, of ownFields) ([]byte, []byte, error) {
	for len(message) > 0 {
		field, err := cutField(message)
		if err != nil {
			return nil, nil, err
		}
		into := &common
		if of.has(field.number) {
			into = &single
		}
		if *into, err = field.strip(*into, drop); err != nil {
			return nil, nil, err
		}
		message = message[len(field.bytes):]
	}
	return single, common, nil
}
