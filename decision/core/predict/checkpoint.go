package predict

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// recordVersion is the first byte of an encoded record.
	recordVersion = 1
	// maxRecordedPods bounds the pods of an encoded record; those that went longest ago are left out.
	maxRecordedPods = 1024
	// maxPodName bounds their names, in bytes.
	maxPodName = 1 << 8
	// maxSteps is what the profile that reads furthest back has recorded.
	maxSteps = int(7*day/RecordStep) + 1
	// maxHeld is the largest amount, in cores or bytes.
	maxHeld = 1 << 60
	// maxStep is the last step whose end fits an int64 of nanoseconds.
	maxStep = math.MaxInt64/int64(RecordStep) - 1
	// podPresent and podProd are the bits of encodedPod.Flags.
	podPresent, podProd = 1, 2
)

// encodedRecord is what an encoded record begins with after its version.
type encodedRecord struct {
	First, Last int64
	Pods        uint32
}

// encodedPod is what each pod begins with: its name follows, and then what it used, two numbers of 16 bits in each step.
type encodedPod struct {
	Name, Used uint16
	// Behind is how many steps before the last one of the record the pod was measured last.
	Behind      uint16
	Flags       uint8
	CPU, Memory Held
}

// MarshalBinary encodes the record for a checkpoint, in 4 bytes a pod and step and about a hundred for each pod, with 1024 pods at
// most. Predictions that are still to be judged are not in it. It never fails.
func (r *Record) MarshalBinary() ([]byte, error) {
	pods := r.kept()
	data := appendFixed([]byte{recordVersion}, encodedRecord{First: r.first, Last: r.last, Pods: uint32(len(pods))})
	for _, pod := range pods {
		used := last(pod.used, maxSteps)
		head := encodedPod{Name: uint16(len(pod.Pod)), Used: uint16(len(used)), Behind: uint16(r.last - pod.to), CPU: pod.CPU.sane(), Memory: pod.Memory.sane()}
		if pod.present {
			head.Flags |= podPresent
		}
		if pod.Prod {
			head.Flags |= podProd
		}
		data = append(appendFixed(data, head), pod.Pod...)
		for _, value := range used {
			data = binary.BigEndian.AppendUint16(data, uint16(value.cpu))
			data = binary.BigEndian.AppendUint16(data, uint16(value.memory))
		}
	}
	return data, nil
}

// kept are the pods of a checkpoint, in the order of their names.
func (r *Record) kept() []*recorded {
	var pods []*recorded
	for _, pod := range r.pods {
		if len(pod.Pod) <= maxPodName {
			pods = append(pods, pod)
		}
	}
	byName := func(a, b *recorded) int { return cmp.Compare(a.Pod, b.Pod) }
	slices.SortFunc(pods, func(a, b *recorded) int { return cmp.Or(cmp.Compare(b.to, a.to), byName(a, b)) })
	pods = pods[:min(len(pods), maxRecordedPods)]
	slices.SortFunc(pods, byName)
	return pods
}

// sane is an amount each, up to the largest; what is none is encoded as 0.
func (h Held) sane() Held {
	for _, value := range []*float64{&h.Used, &h.Requested, &h.Limit} {
		if !(*value >= 0 && *value <= maxHeld) {
			*value = 0
		}
	}
	return h
}

func appendFixed(data []byte, value any) []byte {
	data, _ = binary.Append(data, binary.BigEndian, value) // values of a fixed size never fail
	return data
}

// DecodeRecord reads what MarshalBinary wrote, for a profile: what that does not read is left out. It takes no more memory than the
// data, and refuses everything that MarshalBinary does not write.
func DecodeRecord(data []byte, profile Profile) (*Record, error) {
	r := NewRecord()
	r.Remember(profile)
	if err := r.decode(data); err != nil {
		return nil, fmt.Errorf("decode record of %d bytes: %w", len(data), err)
	}
	return r, nil
}

func (r *Record) decode(data []byte) error {
	if len(data) == 0 || data[0] != recordVersion {
		return fmt.Errorf("%.1x is not version %d", data[:min(len(data), 1)], recordVersion)
	}
	var head encodedRecord
	data, err := cut(data[1:], &head)
	if err != nil {
		return err
	}
	if head != (encodedRecord{}) && (head.First <= 0 || head.Last < head.First || head.Last > maxStep || head.Pods > maxRecordedPods) {
		return fmt.Errorf("it has %d pods from step %d to %d", head.Pods, head.First, head.Last)
	}
	r.first, r.last = head.First, head.Last
	before := ""
	for range head.Pods {
		var pod *recorded
		if pod, data, err = r.decodePod(data); err != nil {
			return err
		}
		if len(r.pods) > 0 && pod.Pod <= before {
			return fmt.Errorf("pod %.64q comes after %.64q", pod.Pod, before)
		}
		before = pod.Pod
		r.pods[pod.Pod] = pod
	}
	if len(data) > 0 {
		return fmt.Errorf("%d bytes follow its end", len(data))
	}
	return nil
}

// decodePod reads one pod, and returns what follows it.
func (r *Record) decodePod(data []byte) (*recorded, []byte, error) {
	var head encodedPod
	data, err := cut(data, &head)
	if err != nil {
		return nil, nil, err
	}
	name, used, present := int(head.Name), int(head.Used), head.Flags&podPresent != 0
	if len(data) < name+4*used {
		return nil, nil, errors.New("it ends too early")
	}
	pod := &recorded{
		Sample: Sample{Pod: string(data[:name]), Prod: head.Flags&podProd != 0, CPU: head.CPU, Memory: head.Memory},
		to:     r.last - int64(head.Behind), present: present,
	}
	data = data[name:]
	switch {
	case name > maxPodName || head.Flags > podPresent|podProd || head.CPU != head.CPU.sane() || head.Memory != head.Memory.sane():
		return nil, nil, fmt.Errorf("pod %.64q is of flags %d, %+v and %+v", pod.Pod, head.Flags, head.CPU, head.Memory)
	case used < 1 || used > maxSteps || pod.to-int64(used)+1 < r.first || present && head.Behind > 0 || time.Duration(head.Behind)*RecordStep > day:
		return nil, nil, fmt.Errorf("pod %.64q has %d steps up to %d before the last one", pod.Pod, used, head.Behind)
	}
	for i := max(used-int(r.keep()), 0); i < used; i++ {
		value := data[4*i:]
		pod.used = append(pod.used, use{minifloat(binary.BigEndian.Uint16(value)), minifloat(binary.BigEndian.Uint16(value[2:]))})
	}
	return pod, data[4*used:], nil
}

// cut reads a value of a fixed size, and returns what follows it.
func cut(data []byte, into any) ([]byte, error) {
	n, err := binary.Decode(data, binary.BigEndian, into)
	if err != nil {
		return nil, errors.New("it ends too early")
	}
	return data[n:], nil
}

// Last is the end of the last step that was observed; zero before the first.
func (r *Record) Last() time.Time {
	if r.last == 0 {
		return time.Time{}
	}
	return time.Unix(0, (r.last+1)*int64(RecordStep))
}
