package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields that are read, and of the types of track events, of Perfetto's schema
// (protos/perfetto/trace).
const (
	tracePacket  = 1  // of Trace
	trackEvent   = 11 // of TracePacket
	eventType    = 9  // of TrackEvent
	sliceBegin   = 1
	sliceEnd     = 2
	trackNumber  = 11 // of TrackEvent
	defaultTrack = 0
)

// newPerfettoCommand decodes a trace of Perfetto, and checks that every slice that begins on a
// track ends there.
func newPerfettoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "perfetto FILE", Short: "Decode a trace of Perfetto", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			slices, err := countSlices(file)
			if err != nil {
				return err
			}
			fmt.Println(slices)
			return nil
		},
	}
}

func countSlices(file []byte) (slices int, err error) {
	depth := map[uint64]int{}
	err = fields(file, func(number protowire.Number, packet []byte, _ uint64) error {
		if number != tracePacket {
			return nil
		}
		return fields(packet, func(number protowire.Number, event []byte, _ uint64) error {
			if number != trackEvent {
				return nil
			}
			var kind, track uint64 = 0, defaultTrack
			err := fields(event, func(number protowire.Number, _ []byte, value uint64) error {
				switch number {
				case eventType:
					kind = value
				case trackNumber:
					track = value
				}
				return nil
			})
			switch kind {
			case sliceBegin:
				slices++
				depth[track]++
			case sliceEnd:
				depth[track]--
			}
			if depth[track] < 0 {
				return fmt.Errorf("a slice ends on track %d that did not begin", track)
			}
			return err
		})
	})
	for track, open := range depth {
		if open != 0 && err == nil {
			err = fmt.Errorf("%d slices on track %d do not end", open, track)
		}
	}
	return slices, err
}

// fields calls f for each field of a message, with its bytes or its number.
func fields(message []byte, f func(protowire.Number, []byte, uint64) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var content []byte
		var value uint64
		switch kind {
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := f(number, content, value); err != nil {
			return err
		}
	}
	return nil
}
