package live

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// dropped names the fields of a protobuf message that are not decoded: a true leaf is left out, an inner message is
// filtered in turn. Fields it does not name are kept, so that a newer API server loses nothing.
type dropped map[protowire.Number]dropped

// left out entirely.
var out = dropped{}

func numbers(drop ...protowire.Number) dropped {
	d := dropped{}
	for _, number := range drop {
		d[number] = out
	}
	return d
}

func (d dropped) with(number protowire.Number, inner dropped) dropped {
	d[number] = inner
	return d
}

// Field numbers are those of k8s.io/api/core/v1/generated.proto and meta/v1/generated.proto.
var (
	// metadata without managedFields.
	metadataDrop = numbers(17)
	// metadata without the names of owners, finalizers and what the name was generated from too.
	metadataBriefDrop = numbers(2, 13, 14, 17)
	// container without what runs in it: image, command, environment, mounts, probes, hooks, security context.
	containerDrop = numbers(2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)
	// container status without states, image and mounts; allocated resources are kept.
	containerStatusDrop = numbers(2, 3, 6, 7, 8, 12, 13)
	// pod without volumes, security context, DNS and host aliases, and without addresses.
	podDrop = dropped{
		1: metadataDrop,
		2: numbers(1, 8, 9, 14, 15, 23, 26, 28, 34).with(2, containerDrop).with(20, containerDrop),
		3: numbers(5, 6, 12, 13, 16).with(8, containerStatusDrop).with(10, containerStatusDrop),
	}
	// pod as an overview needs it: without conditions, constraints and tolerations too.
	podBriefDrop = dropped{
		1: metadataBriefDrop,
		2: numbers(1, 7, 8, 9, 14, 15, 18, 22, 23, 26, 28, 33, 34).with(2, containerBriefDrop).with(20, containerBriefDrop),
		3: numbers(2, 5, 6, 12, 13, 16).with(8, containerStatusDrop).with(10, containerStatusDrop),
	}
	// pod as a list of pods needs it: podBriefDrop with what its conditions and the states of its containers say.
	podListDrop = dropped{
		1: podBriefDrop[1],
		2: podBriefDrop[2],
		3: numbers(5, 6, 12, 13, 16).with(8, containerStateDrop).with(10, containerStateDrop),
	}
	// pod as a row of an overview needs it: podListDrop without what changes while a pod runs and no row shows, which is times, restarts and
	// whether its containers are ready.
	podRowDrop = dropped{
		1: podListDrop[1],
		2: podListDrop[2],
		3: numbers(5, 6, 7, 12, 13, 16).with(2, numbers(3, 4)).with(8, containerRowDrop).with(10, containerRowDrop),
	}
	// pod as what says which job it runs and how far that is: podListDrop with the names of owners.
	podJobDrop = dropped{1: metadataDrop, 2: podListDrop[2], 3: podListDrop[3]}
	// pod as what says to which gang it belongs: its labels, annotations and scheduling group.
	podMemberDrop = dropped{
		1: numbers(2, 5, 6, 7, 8, 9, 10, 13, 14, 17),
		2: numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
			39, 40, 41),
		3: out,
	}
	// container status with its state, of which a list of pods shows the reason.
	containerStateDrop = numbers(3, 6, 7, 8, 12, 13)
	// container status of which a row shows the reason.
	containerRowDrop   = numbers(3, 4, 5, 6, 7, 8, 9, 12, 13).with(2, dropped{2: numbers(1)})
	containerBriefDrop = numbers(2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)
	// node without images and volumes.
	nodeDrop = dropped{1: metadataDrop, 3: numbers(8, 9, 10)}
)

// field is one field of a message as it is encoded.
type field struct {
	number protowire.Number
	kind   protowire.Type
	// bytes of all of it, of which the first ones are the tag.
	bytes []byte
	tag   int
}

func cutField(message []byte) (field, error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return field{}, fmt.Errorf("read a field's tag: %w", protowire.ParseError(tag))
	}
	length := protowire.ConsumeFieldValue(number, kind, message[tag:])
	if length < 0 {
		return field{}, fmt.Errorf("read field %d: %w", number, protowire.ParseError(length))
	}
	return field{number: number, kind: kind, bytes: message[:tag+length], tag: tag}, nil
}

// strip appends a message to into, without the dropped fields. It allocates nothing but the growth of into: an inner
// message is written in place, its shorter length padded to the room of the longer one, which protobuf allows.
func strip(into, message []byte, drop dropped) ([]byte, error) {
	for len(message) > 0 {
		next, err := cutField(message)
		if err != nil {
			return nil, err
		}
		if into, err = next.strip(into, drop); err != nil {
			return nil, err
		}
		message = message[len(next.bytes):]
	}
	return into, nil
}

// strip appends the field to into, unless it is dropped.
func (f *field) strip(into []byte, drop dropped) ([]byte, error) {
	inner, named := drop[f.number]
	if !named {
		return append(into, f.bytes...), nil
	}
	if len(inner) == 0 || f.kind != protowire.BytesType {
		return into, nil
	}
	value, _ := protowire.ConsumeBytes(f.bytes[f.tag:])
	into = append(into, f.bytes[:f.tag]...)
	start := len(into)
	into = protowire.AppendVarint(into, uint64(len(value)))
	body := len(into)
	into, err := strip(into, value, inner)
	if err != nil {
		return nil, err
	}
	padLength(into[start:body], len(into)-body)
	return into, nil
}

// padLength writes a length into all of room, as a varint with leading zeros.
func padLength(room []byte, length int) {
	for i := range room {
		room[i] = byte(length) | 0x80
		length >>= 7
	}
	room[len(room)-1] &= 0x7f
}
