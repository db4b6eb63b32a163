package fathom;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import java.io.IOException;

/**
 * A field that may be null on the wire, which is not the same as absent: that is where there is no Nullable.
 *
 * @param value the value, or null
 */
@JsonDeserialize(using = Nullable.Reader.class)
public record Nullable<T>(@JsonValue T value) {
    static final class Reader extends JsonDeserializer<Nullable<?>> implements ContextualDeserializer {
        private final JavaType type;

        Reader() {
            this(null);
        }

        private Reader(JavaType type) {
            this.type = type;
        }

        @Override
        public JsonDeserializer<?> createContextual(DeserializationContext context, BeanProperty property) {
            return new Reader(context.getContextualType().containedTypeOrUnknown(0));
        }

        @Override
        public Nullable<?> deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            return new Nullable<>(context.readValue(parser, type));
        }

        @Override
        public Nullable<?> getNullValue(DeserializationContext context) {
            return new Nullable<>(null);
        }

        @Override
        public Object getAbsentValue(DeserializationContext context) {
            return null;
        }
    }
}
