package fathom;

import com.fasterxml.jackson.annotation.JacksonAnnotationsInside;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;

/** An instant with its offset, to the microsecond: six digits below the second or none, as Fathom writes it. */
@Retention(RetentionPolicy.RUNTIME)
@JacksonAnnotationsInside
@JsonSerialize(using = Timestamp.Writer.class)
@JsonDeserialize(using = Timestamp.Reader.class)
public @interface Timestamp {
    final class Writer extends JsonSerializer<OffsetDateTime> {
        private static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ssXXX");
        private static final DateTimeFormatter MICROS = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSSXXX");

        @Override
        public void serialize(OffsetDateTime time, JsonGenerator to, SerializerProvider provider) throws IOException {
            to.writeString((time.get(ChronoField.MICRO_OF_SECOND) == 0 ? SECONDS : MICROS).format(time));
        }
    }

    final class Reader extends JsonDeserializer<OffsetDateTime> {
        @Override
        public OffsetDateTime deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            try {
                return OffsetDateTime.parse(parser.getText());
            } catch (DateTimeException error) {
                return (OffsetDateTime) context.handleWeirdStringValue(
                        OffsetDateTime.class, parser.getText(), "an instant is like 2026-07-01T09:30:00Z");
            }
        }
    }
}
